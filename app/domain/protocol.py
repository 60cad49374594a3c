"""The version of what a runner and the service say to each other.

It rises with every change that one side would not understand; the service serves the version before its own as well, so that it is upgraded
first and its runners one by one afterwards. A runner that names none speaks 1.
"""

PROTOCOL = 2
OLDEST = 1
