import { test } from 'node:test'
import { pasteBlocks } from '../../keys/pages/pasted-blocks.ts'

/*
 * The page of a new key, pasted into a fresh shell for each language that Debian has. PowerShell is
 * not one of them.
 */

const LANGUAGES = ['curl', 'JavaScript', 'Python', 'PHP']

for (const setting of ['Linux and macOS', 'A file .env'])
  test(`the pasted blocks of each language get the servers, with the key set by: ${setting}`, async (t) => {
    await pasteBlocks(
      t,
      LANGUAGES.map((language) => ({ setting, language })),
    )
  })
