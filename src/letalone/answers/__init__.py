"""What comes back: releases, estimates with their intervals, how they are shown."""
