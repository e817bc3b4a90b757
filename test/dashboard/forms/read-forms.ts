/*
 * The forms of a page, as a browser would send them.
 */

/** One form with one of its buttons. */
export interface Submission {
  /** The address without ids, and the button's name and value. */
  name: string
  path: string
  /** The fields as the page has filled them, with the button's. */
  fields: [name: string, value: string][]
  /** The names of the fields that the user types into. */
  typed: string[]
  isUpload: boolean
}

/** Every form of the page that changes something, once for each kind of button. */
export function readForms(body: string): Submission[] {
  const forms = body.matchAll(/<form ([^>]*method="post"[^>]*)>(.*?)<\/form>/gs)
  return [...forms].flatMap(([, head = '', content = '']) => readForm(attributesOf(head), content))
}

type Attributes = Record<string, string>

function readForm(form: Attributes, content: string): Submission[] {
  const fields: Submission['fields'] = []
  const typed: string[] = []
  for (const [, input, tag, other = '', inner = ''] of content.matchAll(FIELD)) {
    const head = input ?? other
    const { name, type = 'text', value = '', checked, disabled } = attributesOf(head)
    if (name === undefined || disabled !== undefined || type === 'file') continue
    if (type === 'checkbox' && checked === undefined) continue
    if (type !== 'hidden' && tag !== 'select') typed.push(name)
    const selected = /<option value="([^"]*)" selected/.exec(inner)?.[1] ?? ''
    fields.push([name, tag === 'select' ? selected : tag === 'textarea' ? inner.trim() : value])
  }
  const found = new Map<string, Submission>()
  for (const [, head = ''] of content.matchAll(/<button([^>]*)>/g)) {
    const { name, value = '', disabled, type, formaction, form: other } = attributesOf(head)
    if (disabled !== undefined || type === 'button' || other !== undefined) continue
    const path = formaction ?? form.action ?? ''
    const button = name === undefined ? [] : ([[name, value]] as [string, string][])
    const words = button.map(([one, is]) => ` ${one}=${kindOf(is)}`)
    if (fields.some(([one]) => one === 'replaces')) words.push(' replaces=*')
    const label = `${routeOf(path)}${words.join('')}`
    const isUpload = form.enctype === 'multipart/form-data'
    if (!found.has(label))
      found.set(label, { name: label, path, fields: [...fields, ...button], typed, isUpload })
  }
  return [...found.values()]
}

const FIELD = /<input\b([^>]*)>|<(textarea|select)\b([^>]*)>(.*?)<\/\2>/gs

/** Attributes of a tag. Some of our pages leave out quotes. */
function attributesOf(head: string): Attributes {
  const found = head.matchAll(/([\w-]+)(?:=(?:"([^"]*)"|([^\s">]+)))?/g)
  return Object.fromEntries(
    [...found].map(([, name = '', quoted, bare]) => [name, unescaped(quoted ?? bare ?? '')]),
  )
}

function routeOf(path: string): string {
  return path
    .replaceAll(/\/[0-9a-f-]{36}(?=\/|$)/g, '/:id')
    .replace(/(\/(setup|link)\/).*/, '$1:token')
}

/** A value that differs from page to page, or its name in braces, becomes a star. */
export function kindOf(value: string): string {
  return /^[0-9a-f-]{16,}$|^\d+$|^\{\w+\}$/.test(value) ? '*' : value
}

export function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
