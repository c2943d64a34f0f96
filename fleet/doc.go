// Package fleet shows what hookctl export sends in real engines: Jaeger,
// VictoriaMetrics and VictoriaLogs, built from their Go modules, and a collector. It
// has only tests, under the build tag fleet:
//
//	go test -tags fleet -v ./fleet
//
// The engines are built once, into the person's cache folder; that takes minutes.
package fleet
