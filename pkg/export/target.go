package export

import (
	"context"
	"errors"
	"io"

	"stopgate/pkg/host"
	"stopgate/pkg/otlp"
	"stopgate/pkg/status"
)

// HTTP is a collector or an engine that takes OTLP over HTTP.
type HTTP map[otlp.Signal]*otlp.Poster

// NewHTTP is what takes the signals of these targets. It fails where certificates
// cannot be read.
func NewHTTP(targets []otlp.Target) (HTTP, error) {
	h := HTTP{}
	for _, t := range targets {
		if t.Off {
			continue
		}
		p, err := otlp.NewPoster(t)
		if err != nil {
			return nil, err
		}
		h[t.Signal] = p
	}
	return h, nil
}

// Send implements [Sender].
func (h HTTP) Send(ctx context.Context, signal otlp.Signal, message any) (otlp.Rejected, error) {
	if h[signal] == nil {
		return otlp.Rejected{}, nil
	}
	return h[signal].Post(ctx, message)
}

// File is a file of OTLP/JSON lines, as a collector's file receiver reads it.
type File struct{ Path string }

// Send implements [Sender]: it adds a line, whole or not at all.
func (f File) Send(_ context.Context, _ otlp.Signal, message any) (otlp.Rejected, error) {
	line, err := otlp.JSON(message)
	if err != nil {
		return otlp.Rejected{}, err
	}
	file, info, err := host.OpenAppend(f.Path)
	if err != nil {
		return otlp.Rejected{}, err
	}
	line = append(line, '\n')
	last := []byte{'\n'}
	if size := info.Size(); size > 0 {
		if _, err := file.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...) // somebody was interrupted in a line
		}
	}
	_, err = file.Write(line)
	if err == nil {
		err = file.Sync()
	} else {
		_ = file.Truncate(info.Size()) // no half a line stays
	}
	if err = errors.Join(err, file.Close()); err != nil {
		err = &otlp.LaterError{Err: err} // a full disk has room again some day
	}
	return otlp.Rejected{}, err
}

// Lines writes OTLP/JSON lines to a stream, which can be a terminal.
type Lines struct{ W io.Writer }

// Send implements [Sender].
func (l Lines) Send(_ context.Context, _ otlp.Signal, message any) (otlp.Rejected, error) {
	line, err := otlp.JSON(message)
	if err == nil {
		_, err = l.W.Write(append(status.Visible(line), '\n'))
	}
	return otlp.Rejected{}, err
}
