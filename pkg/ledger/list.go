package ledger

import "stopgate/pkg/fate"

// List is the last list of the session's unfinished tasks, by whatever event.
func (s Session) List() fate.List {
	l := fate.List{At: s.ListedAt, Tasks: make(map[string]bool, len(s.Listed))}
	for _, t := range s.Listed {
		l.Tasks[t.ID] = true
	}
	return l
}
