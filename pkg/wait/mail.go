package wait

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"stopgate/pkg/fate"
	"stopgate/pkg/transcript"
)

// A teammate's message stands in its own transcript and in the receiver's inbox,
// not with the coordinator (docs/client.md: messages).
const (
	// mailEvery is how often others' transcripts are looked at, at the most: with
	// the tick, a message ends the wait within two seconds. They are not watched
	// one by one, for there may be thousands, and most of what they write is no
	// message.
	mailEvery = time.Second
	// recentSpan is how much of another agent's transcript is read for what it
	// sent just before the wait began, in bytes.
	recentSpan = 64 << 10
	// maxSenders bounds the transcripts that are followed.
	maxSenders = 4096
)

// sender is another agent whose transcript may hold a message to this one.
type sender struct {
	src transcript.Source
	// start is from where it is read; placed tells that cursor stands there.
	start  int64
	placed bool
	cursor transcript.Cursor
	last   fs.FileInfo
}

// inbox is what is known of an inbox file.
type inbox struct {
	info  fs.FileInfo
	count int
	read  bool
}

// mail looks for messages that the coordinator's transcript does not show.
func (w *Wait) mail(ctx context.Context, now time.Time) {
	for _, path := range w.Inboxes {
		w.inbox(path)
	}
	if w.Senders == nil {
		return
	}
	due := w.mailed.Add(mailEvery)
	if !w.deaf && !w.stirred {
		due = w.mailed.Add(rareTick)
	}
	if now.Before(due) {
		if w.stirred {
			w.again(due) // what stirred is awaited anew, and was not looked at
		}
		return
	}
	w.mailed, w.stirred = now, false
	for _, path := range w.Senders() {
		w.beside(filepath.Dir(path))
		w.sender(ctx, path)
	}
}

// sender reads what another agent's transcript gained. One that lies still since
// before the wait began is not even opened.
func (w *Wait) sender(ctx context.Context, path string) {
	s := w.senders[path]
	if s == nil {
		if len(w.senders) >= maxSenders {
			return
		}
		info, err := w.Files.Stat(path)
		if err != nil {
			return
		}
		s = &sender{src: transcript.Source{Path: path, Owner: transcript.AgentOf(path)}, start: info.Size()}
		w.senders[path] = s
		if info.ModTime().Before(w.Since) {
			s.last = info
			return
		}
		s.start = max(0, s.start-recentSpan)
	}
	if info, err := w.Files.Stat(path); err != nil || same(s.last, info) {
		return
	}
	if !s.placed {
		cursor, err := transcript.CursorAt(w.Files, path, s.start)
		if err != nil {
			return
		}
		s.cursor, s.placed = cursor, true
	}
	fresh := s.last != nil
	if b, news := w.scan(ctx, s.src, s.cursor, &s.last); news {
		s.cursor = b.Cursor
		w.learn(b, fresh)
	}
}

// learn takes in what a transcript gained: what it tells of the tasks, and what
// ends the wait whoever said it: a message to the agent, or that the agent itself
// was stopped. What was read may be old: only what was told since counts. fresh
// tells that the transcript had been read to its end before.
func (w *Wait) learn(b transcript.Batch, fresh bool) {
	w.known.Take(b)
	if fresh {
		w.seen.ended(b.Ends, w.looked)
	}
	for _, m := range b.Messages {
		if w.Message != nil && !m.At.Before(w.Since) && w.Message(m) {
			w.messaged = true
		}
	}
	for _, e := range b.Ends {
		if w.selfEnd(e) {
			w.stopped = true
		}
	}
}

// selfEnd tells whether an end is that of the agent whose tasks are waited for:
// stopped, or given up by the client. A held agent does not complete.
func (w *Wait) selfEnd(e transcript.End) bool {
	if w.Self == "" || e.Task != w.Self || e.At.IsZero() || e.At.Before(w.Since) {
		return false
	}
	return fate.Word(e.Status) == fate.Killed || e.Status == "failed"
}

// inbox reads an inbox that changed. It belongs to the client, which writes and
// empties it: what cannot be read is looked at again when it has changed.
func (w *Wait) inbox(path string) {
	box := w.inboxes[path]
	if box == nil {
		box = &inbox{}
		w.inboxes[path] = box
	}
	info, err := w.Files.Stat(path)
	if err != nil {
		box.read, box.info, box.count = true, nil, 0
		return
	}
	if same(box.info, info) {
		return
	}
	box.info, w.changed = info, w.looked
	mail, err := transcript.Inbox(w.Files, path)
	if err != nil {
		return
	}
	for i, m := range mail {
		if m.Read || m.Idle {
			continue
		}
		// Without a time, an entry is new if it was not there at first.
		if m.At.IsZero() && box.read && i >= box.count || !m.At.IsZero() && !m.At.Before(w.Since) {
			w.messaged = true
		}
	}
	if !box.read || len(mail) < box.count {
		box.count = len(mail)
	}
	box.read = true
}
