package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Signal is one of the three kinds of records.
type Signal string

// The signals, as the paths of their endpoints end.
const (
	SignalTraces  Signal = "traces"
	SignalMetrics Signal = "metrics"
	SignalLogs    Signal = "logs"
)

// Signals are all of them.
var Signals = []Signal{SignalTraces, SignalMetrics, SignalLogs}

// Settings are what a person's file says of where records go. The variables of the
// environment ($OTEL_EXPORTER_OTLP_…) win over each. The zero value says nothing.
type Settings struct {
	// Endpoint is the base to which each signal's path is added, Headers are as in
	// the variable: "name=value,name=value".
	Endpoint, Headers string
	// Certificate is the file of those who sign the server's certificate, ClientCertificate
	// and ClientKey the files of the one that is shown to it.
	Certificate, ClientCertificate, ClientKey string
	// Protocol is "http/protobuf" or "http/json", Compression "gzip" or "none".
	Protocol, Compression string
	// Timeout is that of one request; 0 where nothing is said.
	Timeout time.Duration
}

// Target is where one signal goes.
type Target struct {
	Signal Signal
	// URL is the whole address, Headers go with each request. Off tells that the
	// signal is not sent at all.
	URL     string
	Headers map[string]string
	Off     bool
	// JSON tells that OTLP/JSON is sent in place of protobuf, Gzip that it is
	// compressed.
	JSON, Gzip bool
	// Timeout is that of one request.
	Timeout time.Duration

	ca, cert, key string
}

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
	envPrefix       = "OTEL_EXPORTER_OTLP_"
)

// Resolve tells where a signal goes by the environment and by what a file says, as
// the protocol's exporter specification has it: a signal's own variable wins over the
// general one, and its endpoint is taken as it is.
func Resolve(signal Signal, env func(string) string, file Settings) (Target, error) {
	name := strings.ToUpper(string(signal))
	look := func(what, fallback string) string {
		return cmp.Or(env(envPrefix+name+"_"+what), env(envPrefix+what), fallback)
	}
	t := Target{
		Signal: signal, Off: env("OTEL_"+name+"_EXPORTER") == "none",
		ca: look("CERTIFICATE", file.Certificate), cert: look("CLIENT_CERTIFICATE", file.ClientCertificate), key: look("CLIENT_KEY", file.ClientKey),
	}
	var err error
	if t.URL, err = endpoint(signal, env(envPrefix+name+"_ENDPOINT"), cmp.Or(env(envPrefix+"ENDPOINT"), file.Endpoint, defaultEndpoint)); err != nil {
		return t, err
	}
	if t.Headers, err = headers(look("HEADERS", file.Headers)); err != nil {
		return t, err
	}
	switch protocol := look("PROTOCOL", cmp.Or(file.Protocol, "http/protobuf")); protocol {
	case "http/protobuf":
	case "http/json":
		t.JSON = true
	default:
		return t, fmt.Errorf("protocol %q: only http/protobuf and http/json are spoken", protocol)
	}
	switch compression := look("COMPRESSION", cmp.Or(file.Compression, "none")); compression {
	case "none":
	case "gzip":
		t.Gzip = true
	default:
		return t, fmt.Errorf("compression %q: neither gzip nor none", compression)
	}
	t.Timeout = cmp.Or(file.Timeout, defaultTimeout)
	if text := look("TIMEOUT", ""); text != "" {
		ms, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return t, fmt.Errorf("%sTIMEOUT %q: not a number of milliseconds", envPrefix, text)
		}
		t.Timeout = time.Duration(ms) * time.Millisecond //nolint:gosec // 31 bits
	}
	return t, nil
}

// endpoint is the address of a signal: its own as it is, or its path below the base.
func endpoint(signal Signal, own, base string) (string, error) {
	text := cmp.Or(own, base)
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("endpoint %q: not an address that begins with http:// or https://", withoutPassword(text))
	}
	if own == "" {
		u = u.JoinPath("v1", string(signal))
	} else if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// withoutPassword is an address that can be shown.
func withoutPassword(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	if _, behind, found := strings.Cut(text, "@"); found {
		return "…@" + behind
	}
	return text
}

// Shown is the address without what is secret in it.
func (t Target) Shown() string { return withoutPassword(t.URL) }

// Pairs reads "name=value,name=value", each value with % escapes. What is none is left
// out.
func Pairs(text string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); found && name != "" && err == nil {
			out[name] = value
		}
	}
	return out
}

// headers reads the headers of requests. An error does not show them: they can be
// secret.
func headers(text string) (map[string]string, error) {
	out, given := Pairs(text), 0
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) != "" {
			given++
		}
	}
	for name, value := range out {
		if strings.ContainsAny(name, " \t\r\n\x00:()<>@;\\\"/[]?={}") || strings.ContainsAny(value, "\r\n\x00") {
			given = -1
		}
	}
	if given != len(out) {
		return nil, errors.New("headers: not a list of name=value")
	}
	return out, nil
}

// client is an HTTP client for the target, with its certificates.
func (t Target) client() (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.ca != "" {
		data, err := os.ReadFile(t.ca) // whatever a person names, also a pipe
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("certificate %s: no certificate in it", t.ca)
		}
	}
	if t.cert != "" || t.key != "" {
		pair, err := tls.LoadX509KeyPair(t.cert, t.key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true,
		MaxIdleConns: 3, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: defaultTimeout,
		ResponseHeaderTimeout: t.Timeout, MaxResponseHeaderBytes: 64 << 10,
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // headers are for this server
	return &http.Client{Transport: transport, Timeout: t.Timeout, CheckRedirect: noRedirect}, nil
}
