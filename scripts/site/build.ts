import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { join as joinPath, normalize } from 'node:path/posix'
import { filesBelow, ROOT } from '../../test/fixtures/tree.ts'
import { type Document, readDocument, renderDocument } from './markdown.ts'
import { groupPaths } from './navigation.ts'
import { hrefBetween, ICON_PATH, pathOfPage, showPage, STYLE_PATH } from './page.ts'

/*
 * Writes a site from the documents: `npm run site`, or `node scripts/site/build.ts FOLDER`. It
 * opens from the file system. Begins with README.md and docs/, and follows their links within the
 * repository: Markdown becomes a page, and so does any other text.
 */

const DEFAULT_FOLDER = 'site'
const STYLES = ['src/web/html/assets/style/tokens.css', 'scripts/site/style.css']
const ICON = 'src/web/html/assets/icons.svg'
const IS_IMAGE = /\.(svg|webp|png)$/

if (import.meta.main) {
  const folder = process.argv[2] ?? join(ROOT, DEFAULT_FOLDER)
  const pages = buildSite(folder)
  console.log(`${pages} pages: ${join(folder, 'index.html')}`)
}

/** Replaces the folder by the site. Returns the number of pages. */
export function buildSite(folder: string): number {
  const { documents, images } = collect()
  const titles = new Map([...documents].map(([path, { title }]) => [path, title]))
  const navigation = {
    groups: groupPaths([...documents.keys()]),
    titleOf: (path: string) => titles.get(path) ?? path,
  }
  rmSync(folder, { recursive: true, force: true })
  for (const [source, document] of documents) {
    const body = renderDocument(document, (target) => hrefOf(source, target))
    const { title, headings } = document
    write(folder, pathOfPage(source), showPage({ source, title, headings, body }, navigation))
  }
  for (const image of images) {
    mkdirSync(dirname(join(folder, image)), { recursive: true })
    cpSync(join(ROOT, image), join(folder, image))
  }
  write(folder, STYLE_PATH, STYLES.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n'))
  cpSync(join(ROOT, ICON), join(folder, ICON_PATH))
  return documents.size
}

/** Every page, and the images on them. */
function collect(): { documents: Map<string, Document>; images: Set<string> } {
  const documents = new Map<string, Document>()
  const images = new Set<string>()
  const queue = ['README.md', ...filesBelow('docs', '.md').map(({ path }) => path)]
  for (const source of queue) {
    if (documents.has(source)) continue
    const document = readSource(source)
    documents.set(source, document)
    for (const target of document.links) {
      if (isExternal(target)) continue
      const { file } = resolve(source, target)
      if (IS_IMAGE.test(file)) images.add(file)
      else queue.push(file)
    }
  }
  return { documents, images }
}

/** A document, the text of another file, or the list of a folder, which ends in a slash. */
function readSource(source: string): Document {
  const path = join(ROOT, source)
  if (source.endsWith('.md')) return readDocument(source, readFileSync(path, 'utf8'))
  const heading = `# ${source}\n\n`
  if (source.endsWith('/')) {
    const names = readdirSync(path).toSorted()
    return readDocument(
      source,
      `${heading}${names.map((name) => `- [${name}](${name})`).join('\n')}`,
    )
  }
  const { tokens, ...document } = readDocument(source, heading)
  const code = { type: 'code' as const, raw: '', text: readFileSync(path, 'utf8') }
  return { ...document, tokens: [...tokens, code] }
}

function hrefOf(source: string, target: string): string {
  if (isExternal(target)) return target
  const { file, fragment } = resolve(source, target)
  if (file === source && fragment !== '') return fragment
  return `${hrefBetween(source, IS_IMAGE.test(file) ? file : pathOfPage(file))}${fragment}`
}

/** The file that a link names. A folder with a README.md is that. */
function resolve(source: string, target: string): { file: string; fragment: string } {
  const [path = '', anchor] = target.split('#')
  const fragment = anchor === undefined ? '' : `#${anchor}`
  if (path === '') return { file: source, fragment }
  const folder = source.endsWith('/') ? source : dirname(source)
  const file = normalize(joinPath(folder, path))
  if (!statSync(join(ROOT, file)).isDirectory()) return { file, fragment }
  const readme = joinPath(file, 'README.md')
  return { file: existsSync(join(ROOT, readme)) ? readme : `${file.replace(/\/$/, '')}/`, fragment }
}

function isExternal(target: string): boolean {
  return /^[a-z]+:/i.test(target)
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
