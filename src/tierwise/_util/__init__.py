"""What every other package uses."""
