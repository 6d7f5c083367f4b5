"""A campaign of kills, damaged files, full disks and hostile servers."""
