import { parseSync } from 'rolldown/utils'

/** A part of a source file: a name, an operator, a string, the shape of an expression. */
export interface Part {
  /** A place is a string beside `import.meta`, as in `new URL('..', import.meta.url)`. */
  kind: 'code' | 'string' | 'module' | 'place'
  text: string
  /** The place of the text within the file. A string's quotes are outside. */
  start: number
  end: number
}

/** A name that an import or an export takes from another module. */
export interface Binding {
  /** Everything but the module, such as `type User as Person`. */
  name: string
  module: string
  start: number
}

/** A source file, apart from its white space and the order of its imports. */
export interface Source {
  bindings: Binding[]
  /** Where the modules of imports and exports are named. */
  modules: Part[]
  /** The other statements. */
  statements: Part[][]
  comments: { text: string; start: number; end: number }[]
}

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

const PLACES = new Set(['start', 'end', 'range', 'loc', 'parent'])

/** Reads a file of TypeScript or JavaScript, or returns null if it has another ending. */
export function readSource(path: string, text: string): Source | null {
  if (!/\.[cm]?[jt]s$/.test(path)) return null
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`cannot parse ${path}: ${errors[0]!.message}`)
  const body = program.body as unknown as Node[]
  const named = body.filter((node) => isNode(node.source))
  return {
    bindings: named.flatMap(bindingsOf),
    modules: named.map((node) => moduleOf(node.source as Node)),
    statements: body.filter((node) => !named.includes(node)).map((node) => partsOf(node)),
    comments: comments.map(({ value, start, end }) => ({ text: value, start, end })),
  }
}

function bindingsOf(node: Node): Binding[] {
  const { start } = node
  const module = moduleOf(node.source as Node).text
  const verb = node.type === 'ImportDeclaration' ? 'import' : 'export'
  const isTypes = node.importKind === 'type' || node.exportKind === 'type'
  const attributes = JSON.stringify(partsOf(node.attributes).map(({ text }) => text))
  const nameOf = (rest: string) => `${verb} ${rest}${attributes === '[]' ? '' : ` ${attributes}`}`
  if (node.type === 'ExportAllDeclaration') {
    const name = nameOf(`${isTypes ? 'type ' : ''}* ${word(node.exported)}`)
    return [{ name, module, start }]
  }
  const specifiers = node.specifiers as Node[]
  if (specifiers.length === 0) return [{ name: nameOf('nothing'), module, start }]
  return specifiers.map((one) => {
    const isType = isTypes || one.importKind === 'type' || one.exportKind === 'type'
    const names = [one.imported ?? one.type, one.local, one.exported]
    const name = [...(isType ? ['type'] : []), ...names.map(word)].filter((part) => part !== '')
    return { name: nameOf(name.join(' ')), module, start: one.start }
  })
}

function word(name: unknown): string {
  if (!isNode(name)) return typeof name === 'string' ? name : ''
  return String(name.name ?? name.value)
}

function moduleOf(node: Node): Part {
  return { kind: 'module', text: String(node.value), start: node.start + 1, end: node.end - 1 }
}

/** The parts in the order of the tree. Fields without a value have no part. */
function partsOf(value: unknown): Part[] {
  if (Array.isArray(value)) return value.flatMap(partsOf)
  if (!isNode(value)) return []
  const { type, start, end } = value
  const literal = literalOf(value)
  if (literal !== null) return [literal]
  const isImport = type === 'ImportExpression' || type === 'TSImportType'
  const isBesideMeta = Array.isArray(value.arguments) && value.arguments.some(isOfMeta)
  const parts: Part[] = [{ kind: 'code', text: type, start, end }]
  for (const [field, inner] of Object.entries(value)) {
    if (PLACES.has(field) || field === 'type') continue
    const isModule = isImport && field === 'source' && isString(inner)
    const text = typeof inner === 'object' ? field : `${field} ${JSON.stringify(inner)}`
    parts.push({ kind: 'code', text, start, end })
    if (isModule) parts.push(moduleOf(inner as Node))
    else if (isBesideMeta && field === 'arguments') parts.push(...partsOf(inner).map(toPlace))
    else parts.push(...partsOf(inner))
  }
  return [...parts, { kind: 'code', text: 'end', start: end, end }]
}

/** Regular expressions count as strings, because they can name paths. */
function literalOf({ type, start, end, ...node }: Node): Part | null {
  if (type === 'TemplateElement') {
    const { raw } = node.value as { raw: string }
    // The place that the parser gives contains the delimiters.
    return { kind: 'string', text: raw, start: start + 1, end: start + 1 + raw.length }
  }
  if (type !== 'Literal') return null
  if (typeof node.value === 'string')
    return { kind: 'string', text: String(node.raw).slice(1, -1), start: start + 1, end: end - 1 }
  if (node.regex !== undefined) return { kind: 'string', text: String(node.raw), start, end }
  return { kind: 'code', text: String(node.raw), start, end }
}

function toPlace(part: Part): Part {
  return part.kind === 'string' ? { ...part, kind: 'place' } : part
}

/** True for `import.meta.url` and `import.meta.dirname`. */
function isOfMeta(value: unknown): boolean {
  return isNode(value) && isNode(value.object) && value.object.type === 'MetaProperty'
}

function isString(value: unknown): boolean {
  return isNode(value) && value.type === 'Literal' && typeof value.value === 'string'
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
