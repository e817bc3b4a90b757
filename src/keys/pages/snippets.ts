import { readFileSync } from 'node:fs'
import { html } from 'hono/html'
import { icon } from '../../web/html/icon.ts'
import type { Html } from '../../web/html/text.ts'

/** The environment variable that all snippets read, so that no program contains the key. */
export const KEY_VARIABLE = 'SERVER_LISTING_KEY'

/** What a reader pastes into a shell, or saves under the name of the file. */
interface Block {
  /** The id of the block's element. */
  id: string
  label: string
  code: string
  file?: string
}

/** The blocks of one language or shell, in the order in which a reader pastes them. */
interface Snippet {
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

/** How to set the key's variable, of which one way is open at a time. */
export function showKeySettings(key: string): Html {
  return showList('setting', keySettingsFor(key))
}

/** A client in each language, of which one is open at a time. */
export function showSnippets(baseUrl: string): Html {
  return html`<p>JavaScript, Python and PHP keep the last list in a temporary file that only your user can read: for ten seconds, and for up to an hour while the API fails. So a page can run them for each visitor.</p>
${showList('language', snippetsFor(baseUrl))}`
}

function showList(name: string, snippets: readonly Snippet[]): Html {
  return html`${snippets.map(
    ({ label, blocks, withEnvFile }, index) =>
      html`<details name="${name}"${index === 0 ? html` open` : ''}><summary>${label}</summary>
<div class="stack">${blocks.map(showBlock)}${withEnvFile === undefined ? '' : html`<p class="hint">With the key in a file: <code>${withEnvFile}</code></p>`}</div></details>`,
  )}`
}

/** Only the script shows the button that copies. A browser must not translate code. */
export function showBlock({ id, label, code, file }: Block): Html {
  return html`<div class="code"><div><span id="${id}-label" class="label">${file === undefined ? label : html`<span class="hint">Save as</span> ${file}`}</span><button type="button" class="quiet" data-copy="${id}" hidden>${icon('copy')}<span>Copy</span><span class="unseen">: ${label}</span></button></div>
<pre id="${id}"${file === undefined ? '' : html` data-file="${file}"`} tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="${id}-label" translate="no">${code}</pre></div>`
}
