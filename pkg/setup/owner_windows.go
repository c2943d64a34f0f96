package setup

// ownerOf has no meaning here: who may write a file is not a matter of its owner.
func ownerOf(string) (uid int, ok bool) { return 0, false }
