"""What a guess at a path is compared by: how names are spelled, how far they lie apart."""
