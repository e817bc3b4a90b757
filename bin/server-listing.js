#!/usr/bin/env -S env MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --no-parallel-scavenge --
// All three settings limit the memory: docs/decisions/0005-v8-and-malloc.md. The launcher that pnpm
// writes runs the first word after -S as a program, so that word can't be a variable.
// Without the `--`, Node.js would take our --env-file for its own.
// Old JavaScript on purpose, so that an outdated Node.js can print the error below.
import { compiledCodeFolder } from './compiled-code.js'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 16)) {
  console.error(
    `server-listing needs Node.js 24.16 or newer; this is Node.js ${process.versions.node}.`,
  )
  process.exit(2)
}
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
