#!/bin/bash
# checkpatch.sh DIR PATCH...: what checkpatch --strict of the Linux source in DIR has
# to say of each patch, as it is mailed, with the line that ends the message.
# Exit status: 0 nothing that counts; 1 something of one of them.
#
# What does not count, and why:
#  MISSING_SIGN_OFF       who sends the series signs it off, in make send-linux
#  UNKNOWN_COMMIT_ID      a source package has no history; make send-linux looks
#                         each Fixes: up in the tree that it prepares for
#  FILE_PATH_CHANGES      MAINTAINERS has all of drivers/net/xen-netback, and the
#                         patch that adds the document adds it there
#  PARENTHESIS_ALIGNMENT, OPEN_ENDED_LINE, of trace points only: the layout that
#                         all of include/trace/events has
. "$(dirname "$0")/lib.sh"

dir=$1 found=0
shift
for patch; do
	ignore=MISSING_SIGN_OFF,UNKNOWN_COMMIT_ID,FILE_PATH_CHANGES
	! grep -q '^+TRACE_EVENT(' "$patch" || ignore+=,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
	sed '0,/^diff --git/s//---\n&/' "$patch" |
		(cd "$dir" && scripts/checkpatch.pl --strict --quiet --max-line-length=80 --ignore "$ignore" -) ||
		{ echo "$patch"; found=1; }
done
exit $found
