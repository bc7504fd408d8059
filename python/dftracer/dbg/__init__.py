# SPDX-License-Identifier: MIT
"""Import paths of the debug build of earlier releases; all names are the ordinary ones."""
