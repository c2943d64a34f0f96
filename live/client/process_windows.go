package client

func (s *Session) terminate() error { return s.cmd.Process.Kill() }

// Kill ends the client at once, as a crash would.
func (s *Session) Kill() error { return s.cmd.Process.Kill() }
