import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NotConfigured } from '../../../src/model/faults.ts'
import { assertNotMounted } from '../../../src/sqlite/database.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'

test('a file that is itself a mount point is refused; a file in a mounted folder is not', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'two words.db')
  writeFileSync(path, '')
  const list = (...mountPoints: string[]) => {
    const lines = mountPoints.map(
      (mountPoint) => `36 35 98:0 /host ${mountPoint} rw,noatime - ext4 /dev/root rw\n`,
    )
    const file = join(folder, 'mountinfo')
    writeFileSync(file, lines.join(''))
    return file
  }
  assertNotMounted(path, list('/', folder, `${folder}/two`))
  assertNotMounted(path, join(folder, 'no such list'))
  assertNotMounted(join(folder, 'no such file'), list('/'))
  const mounted = list('/', `${folder}/two\\040words.db`)
  assert.throws(() => assertNotMounted(path, mounted), NotConfigured)
  assert.throws(() => assertNotMounted(path, mounted), /is a mount point of its own.*its folder/)
})
