// Runs at the end of `npm ci`: links node_modules/.bin/node to the Node.js of this platform. npm 10
// removes its own link with the packages of other platforms, which have the same one. Old
// JavaScript on purpose: the Node.js of npm runs it.
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'

// The shell of Windows could not even run the scripts that would say so.
if (process.platform === 'win32') await import('../../bin/supported.js')

const modules = new URL('../../node_modules/', import.meta.url)
const program = `node-${process.platform}-${process.arch}/bin/node`
if (existsSync(new URL(program, modules))) {
  const link = new URL('.bin/node', modules)
  mkdirSync(new URL('.', link), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync(`../${program}`, link)
}
