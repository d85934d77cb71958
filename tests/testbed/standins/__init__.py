"""Stand-ins: what cannot run on the test bed without container images, one small file each."""
