import { readFileSync } from 'node:fs'

/** The environment variable that all snippets read, so that no program contains the key. */
export const KEY_VARIABLE = 'SERVER_LISTING_KEY'

/** What a reader pastes into a shell, or saves under the name of the file. */
export interface Block {
  /** The id of the block's element. */
  id: string
  label: string
  code: string
  file?: string
}

/** The blocks of one language or shell, in the order in which a reader pastes them. */
export interface Snippet {
  label: string
  blocks: Block[]
  /** Another last command, for a reader who has the key in `.env`. */
  withEnvFile?: string
}

const ENV_FILE = '.env'

/** How to set the variable in each shell and in a file. */
export function keySettingsFor(key: string): Snippet[] {
  const line = `${KEY_VARIABLE}=${key}`
  return [
    {
      label: 'Linux and macOS',
      blocks: [{ id: 'export', label: 'Shell line', code: `export ${line}` }],
    },
    {
      label: 'Windows (PowerShell)',
      blocks: [{ id: 'set', label: 'PowerShell line', code: `$env:${KEY_VARIABLE} = '${key}'` }],
    },
    {
      label: `A file ${ENV_FILE}`,
      blocks: [
        { id: 'env', label: ENV_FILE, file: ENV_FILE, code: line },
        { id: 'env-load', label: 'Load it into a shell', code: `set -a; . ./${ENV_FILE}; set +a` },
      ],
    },
  ]
}

const CLIENTS = new URL('../../../docs/clients/', import.meta.url)
/** The address of the API in each of these files. */
const URL_IN_FILES = 'https://api.example.com/v1/servers'

/**
 * A client in each language. Each checks the key before it sends it, because an HTTP library may
 * print a header that it refuses. No key is an argument, because other users can see arguments.
 */
export function snippetsFor(baseUrl: string): Snippet[] {
  // Parsed and escaped, so that it can't end a string of any language.
  const url = new URL(`${baseUrl}/v1/servers`).href.replaceAll("'", '%27').replaceAll('$', '%24')
  const codeOf = (file: string) =>
    readFileSync(new URL(file, CLIENTS), 'utf8')
      .trimEnd()
      .replace(URL_IN_FILES, () => url)

  const program = (id: string, label: string, file: string, runner: string): Snippet => ({
    label,
    blocks: [
      { id, label: file, file, code: codeOf(file) },
      { id: `${id}-run`, label: `Run ${file}`, code: `${runner} ${file}` },
    ],
  })
  const pasted = (id: string, label: string, block: string, file: string): Snippet => ({
    label,
    blocks: [{ id, label: block, code: codeOf(file) }],
  })
  return [
    pasted('curl', 'curl', 'Shell command', 'servers.sh'),
    {
      ...program('javascript', 'JavaScript', 'servers.mjs', 'node'),
      withEnvFile: `node --env-file=${ENV_FILE} servers.mjs`,
    },
    program('python', 'Python', 'servers.py', 'python3'),
    program('php', 'PHP', 'servers.php', 'php'),
    pasted('powershell', 'PowerShell', 'PowerShell 7', 'servers.ps1'),
  ]
}
