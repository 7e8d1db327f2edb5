"""Recorded conversations played again under a policy: what it would have cost, what it would have
lost. The recorded agent saw everything, so its behaviour under loss is modelled, not observed."""
