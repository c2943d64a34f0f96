"use strict";

// The native programs lie in a package of their own for each platform. This starts
// the one for this machine in its own place, or, where Node cannot do that, stays
// only to pass on signals and the exit code. No hook is ever started through it:
// `stopgate install` registers the native program.

const { spawn } = require("node:child_process");
const path = require("node:path");

const platform = `stopgate-${process.platform}-${process.arch}`;

function program() {
  const name = process.platform === "win32" ? "hookctl.exe" : "hookctl";
  return path.join(path.dirname(require.resolve(`${platform}/package.json`)), "bin", name);
}

module.exports = function launch(name) {
  let file;
  try {
    file = program();
  } catch {
    console.error(`${name}: the package ${platform} is not installed. Install stopgate again without --omit=optional;`);
    console.error(`${name}: where there is no such package, stopgate is not made for this system.`);
    process.exit(1);
  }
  const args = process.argv.slice(2);
  if (process.platform !== "win32" && process.execve) {
    process.execve(file, [name, ...args], process.env);
  }
  const child = spawn(file, args, { argv0: name, stdio: "inherit" });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (err) => {
    console.error(`${name}: ${file}: ${err.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal) {
      signals.forEach((s) => process.removeAllListeners(s));
      process.kill(process.pid, signal);
    } else {
      process.exit(code);
    }
  });
};
