import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeBlocksOf } from './code-blocks.ts'

test('a block is read with its place, its language and the reason why it is not run', () => {
  const text = '# A\n```sh\nls\n```\n<!-- not run: b -->\n```sql\n```\n- c\n\n  ```\n  d\n  ```\n'
  assert.deepEqual(codeBlocksOf(text, 'a.md'), [
    { at: 'a.md:3', language: 'sh', text: 'ls\n', notRun: null },
    { at: 'a.md:7', language: 'sql', text: '', notRun: 'b' },
    { at: 'a.md:11', language: '', text: 'd\n', notRun: null },
  ])
  assert.throws(() => codeBlocksOf('```sh\nls\n', 'a.md'), /a\.md:2: a block has no end/)
})
