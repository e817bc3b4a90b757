import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from './fixtures/folder.ts'
import { ROOT } from './fixtures/tree.ts'

test('the published package has no TypeScript, and runs as it is', (t) => {
  const folder = temporaryFolder(t)
  const packed: { filename: string }[] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  execFileSync('tar', ['-xzf', join(folder, packed[0]?.filename ?? ''), '-C', folder])
  const unpacked = join(folder, 'node_modules/server-listing')
  cpSync(join(folder, 'package'), unpacked, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(unpacked, 'node_modules'))

  const names = readdirSync(unpacked, { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    names.filter((name) => name.endsWith('.ts') && !name.startsWith('node_modules')),
    [],
  )
  const id = execFileSync(
    process.execPath,
    ['bin/server-listing.js', 'user', 'add', 'ada@example.com', '--password-stdin'],
    {
      input: 'correct horse battery staple',
      cwd: unpacked,
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: `sqlite:${join(folder, 'listing.db')}` },
    },
  )
  assert.match(id, /^[0-9a-f-]{36}\n$/)
  assert.ok(names.includes('dist/dashboard/assets/style.css'))
})
