"""Pure rules: values in, values out. Reads no clock, no disk, no environment."""
