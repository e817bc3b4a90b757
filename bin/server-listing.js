#!/bin/sh
':' //; exec env MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --no-parallel-scavenge -- "$0" "$@"
// A shell runs the line above, and Node.js reads it as a text and a comment. All three settings
// limit the memory: docs/decisions/0005-v8-and-malloc.md. `env -S` would do without a shell, and
// BusyBox lacks it. Without the `--`, Node.js would take our --env-file for its own.
// Old JavaScript on purpose, so that the first import can end an outdated Node.js.
import './supported.js'
import { compiledCodeFolder } from './compiled-code.js'

const major = Number.parseInt(process.versions.node, 10)
// With Maglev, one of V8's compilers, Node.js 26 sends wrong heads after some hundred requests.
// docs/decisions/0005-v8-and-malloc.md
if (major >= 26) process.getBuiltinModule('node:v8').setFlagsFromString('--no-maglev')
const { existsSync } = process.getBuiltinModule('node:fs')
const module = process.getBuiltinModule('node:module')
// Caching compiled code halves the start time of a command. If NODE_COMPILE_CACHE is set, Node.js
// has already enabled the cache in that directory.
if (module.getCompileCacheDir() === undefined) {
  const folder = compiledCodeFolder()
  if (folder !== null) module.enableCompileCache(folder)
}
const source = new URL('../src/main.ts', import.meta.url)
void import(existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href)
