import { randomUUID } from 'node:crypto'
import { html, raw } from 'hono/html'
import { type Context, fieldOf } from '../context.ts'
import type { Html } from './text.ts'

export interface Field {
  name: string
  /** Needed if the page has two fields of this name. */
  id?: string
  label: string | Html
  value?: string
  hint?: string
  /** What is wrong with the value, as a sentence. */
  error?: string | undefined
  type?: 'text' | 'email' | 'password' | 'search'
  autocomplete?: string
  required?: boolean
  /** True if the label says that the field may stay empty. */
  isOptional?: boolean
  /** True for a value that a phone must not capitalize, correct or check for spelling. */
  isCode?: boolean
  /** The keys that a phone offers. */
  keys?: 'url'
  /** In UTF-16 code units: what the browser refuses to send. Password managers read it too. */
  lengthMin?: number
  /** True for the first field of a page that has nothing else to read. */
  hasFocus?: boolean
  /** In code points. The script counts them beside the field. */
  lengthMax?: number
  /** Values that the browser offers. The user can type any other. */
  suggestions?: readonly string[]
  /** The name of the field from which the script suggests a value for this one. */
  suggestedFrom?: string
}

/** A labeled field with its hint and its error. The browser focuses the first wrong field. */
export function showField(field: Field): Html {
  const { name, id = name, label, value = '', type = 'text' } = field
  return html`<div class="field">
<label for="${id}">${label}${field.isOptional ? OPTIONAL : ''}</label>
<input id="${id}" name="${name}" type="${type}" value="${type === 'password' ? '' : value}"${attributesOf(field)} autocomplete="${field.autocomplete ?? 'off'}">
${showSuggestions(id, field.suggestions)}${showAdvice(field)}
</div>`
}

function attributesOf(field: Field): (Html | '')[] {
  const { name, id = name, error, keys, lengthMin, lengthMax, suggestedFrom } = field
  return [
    describedBy(field),
    error || field.hasFocus ? raw(' autofocus') : '',
    field.required ? raw(' required') : '',
    field.isCode ? AS_CODE : '',
    keys ? html` inputmode="${keys}"` : '',
    lengthMin ? html` minlength="${lengthMin}" passwordrules="minlength: ${lengthMin}"` : '',
    lengthMax ? html` data-length-max="${lengthMax}"` : '',
    suggestedFrom ? html` data-suggested-from="${suggestedFrom}"` : '',
    field.suggestions ? html` list="${id}-list"` : '',
  ]
}

function showSuggestions(id: string, suggestions: readonly string[] | undefined): Html | '' {
  if (suggestions === undefined) return ''
  return html`<datalist id="${id}-list">${suggestions.map((one) => html`<option value="${one}">`)}</datalist>`
}

const OPTIONAL = html` <span class="hint">(optional)</span>`

/** Safari reads `autocorrect`, other browsers the other two. */
export const AS_CODE = raw(' autocapitalize="none" autocorrect="off" spellcheck="false"')

/**
 * The signed-in user's name, unseen: the email address, if there is one. It tells a password
 * manager whose password the form asks for, so that the manager does not take another field for
 * the user's name.
 */
export function showUsername(name: string): Html {
  return html`<input type="text" autocomplete="username" value="${name}" hidden readonly>`
}

export interface Choice {
  name: string
  label: string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  hint?: string
  error?: string | undefined
}

export function showChoice(choice: Choice): Html {
  const { name, label, value, options, error } = choice
  return html`<div class="field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}"${describedBy(choice)}${error ? html` autofocus` : ''}>
${options.map(([one, text]) => html`<option value="${one}"${one === value ? html` selected` : ''}>${text}</option>`)}
</select>
${showAdvice(choice)}
</div>`
}

type Advised = Pick<Field, 'name' | 'id' | 'hint' | 'error'>

function describedBy({ name, id = name, hint, error }: Advised): Html {
  if (error) return html` aria-invalid="true" aria-describedby="${id}-error"`
  return hint ? html` aria-describedby="${id}-hint"` : html``
}

/** The error stands in the place of the hint: both often say what the field may have. */
function showAdvice({ name, id = name, hint, error }: Advised): Html | '' {
  if (error) return html`<p class="error" id="${id}-error">${error}</p>`
  return hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ''
}

/**
 * A form sent twice creates one record, because `idFromFormTag` derives the record's id from this
 * tag.
 */
export function showFormTag(tag: string = randomUUID()): Html {
  return html`<input type="hidden" name="form" value="${tag}">`
}

/** A form with mistakes keeps its tag, so that sending it again still creates one record. */
export function submittedTag(c: Context): string | undefined {
  return c.req.method === 'POST' ? fieldOf(c, 'form') || undefined : undefined
}
