package timeline

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

// Source is where a timeline comes from.
type Source struct {
	Dir   state.Dir
	Files host.Files
	Now   time.Time
}

// Read gathers what the timeline of a session is built from. Of a transcript that
// is not there the ledger tells what it can; an error is one of the ledger, or of
// ctx.
func (s Source) Read(ctx context.Context, session status.Session) (Record, error) {
	r := Record{
		Session: session, Now: s.Now, Client: transcript.Version(s.Files, session.Transcript),
		Moments: map[string][]transcript.Moment{},
	}
	snap, err := ledger.ReadFile(ctx, s.Dir.Store(session.ID))
	if err != nil {
		return r, err
	}
	r.Acts = snap.Acts
	account := snap.Account()
	paths := map[string]string{transcript.Main: session.Transcript}
	for _, a := range session.Agents {
		paths[a.ID] = transcript.OfAgent(s.Files, session.Transcript, a.ID, snap.Agents[a.ID].Transcript)
	}
	for id, path := range paths {
		if path == "" {
			continue
		}
		src := transcript.Source{Path: path, Owner: id}
		err := transcript.Moments(ctx, s.Files, src, func(m transcript.Moment) { r.Moments[id] = append(r.Moments[id], m) })
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case ctx.Err() != nil:
			return r, ctx.Err()
		}
		if batch, err := transcript.Scan(ctx, s.Files, src, transcript.Cursor{}); err == nil {
			account.Take(batch)
		}
	}
	r.News = account.News
	return r, nil
}
