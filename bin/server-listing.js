#!/usr/bin/env -S node --max-semi-space-size=8
// The limit is on the room for young objects, in MiB: V8 would let it grow to many times what the service needs.
// Old JavaScript on purpose: a Node.js too old for the rest must still be able to say so.
import { existsSync } from 'node:fs'
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 16)) {
  console.error(
    `server-listing needs Node.js 24.16 or newer; this is Node.js ${process.versions.node}.`,
  )
  process.exit(2)
}
// Compiled code is kept between runs, which halves what a command takes to start.
module.enableCompileCache()
const source = new URL('../src/main.ts', import.meta.url)
void import(existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href)
