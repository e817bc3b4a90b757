import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { judgeRoom } from '../../../src/cli/doctor/backup-folder.ts'
import { programIn } from '../program.ts'
import { diagnose } from './findings.ts'

test('the folder of backups must have room and be private', async (t) => {
  const program = programIn(t)
  await program.done('migrate')
  const folder = join(program.folder, 'backups')
  const judge = async () => {
    const { backup_folder: found } = await diagnose(program, {}, ['--backups', folder])
    return [found!.state, found!.found] as const
  }
  assert.match(String(await judge()), /^problem,this user cannot use the folder .*ENOENT/)
  writeFileSync(folder, '')
  assert.match(String(await judge()), /^problem,.* is not a folder$/)
  rmSync(folder)
  mkdirSync(folder, 0o700)
  await program.done(['backup', folder])
  assert.match(String(await judge()), /^ok,.* has 1 file, and room/)
  const [file] = readdirSync(folder)
  chmodSync(join(folder, file!), 0o640)
  assert.match(String(await judge()), /^warning,other users .* may read files/)
  chmodSync(folder, 0o770)
  assert.match(String(await judge()), /^warning,other users .* may replace the backups/)
  assert.equal(judgeRoom('"x"', [{ size: 5 }, { size: 9 }], 10), null)
  assert.equal(judgeRoom('"x"', [{ size: 5 }, { size: 9 }], 9)?.state, 'problem')
})

/** Like a backup that ends, and so removes its partial file, while the doctor reads the folder. */
const END_BACKUP = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const { readdirSync } = fs
  fs.readdirSync = (folder, ...rest) => {
    const names = readdirSync(folder, ...rest)
    fs.rmSync(folder + '/partial', { force: true })
    return names
  }
  syncBuiltinESMExports()
`

test('a file that a backup removes meanwhile is no problem', async (t) => {
  const program = programIn(t)
  await program.done('migrate')
  const folder = join(program.folder, 'backups')
  mkdirSync(folder, 0o700)
  writeFileSync(join(folder, 'partial'), '')
  const args = ['doctor', '--json', '--backups', folder]
  const { stdout, stderr } = await program.begin(args, { preload: END_BACKUP }).ended
  assert.match(stdout, /"found": ".* has 0 files, and room/, stderr)
})
