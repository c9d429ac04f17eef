"""Surveys whose answers are made private on the device of whoever gives them."""
