import { hash, randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import type { Html } from './page.ts'

export interface Field {
  name: string
  /** Where the name alone is not the only one of its kind on the page. */
  id?: string
  label: string
  value?: string
  hint?: string
  /** What is wrong with the value, as a sentence. */
  error?: string | undefined
  type?: 'text' | 'email' | 'password' | 'search'
  autocomplete?: string
  required?: boolean
  /** Code points, counted beside the field where script runs. */
  lengthMax?: number
  /** Values that are offered; any other can be typed. */
  suggestions?: readonly string[]
  /** The name of the field that a suggestion for this one is made from. */
  suggestedFrom?: string
}

/** A labelled field with its hint, and its error right beside it. */
export function showField(field: Field): Html {
  const { name, id = name, label, value = '', hint, error, type = 'text', suggestions = [] } = field
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return html`<div class="field">
<label for="${id}">${label}</label>
${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ''}
<input id="${id}" name="${name}" type="${type}" value="${type === 'password' ? '' : value}"
${described === '' ? '' : html` aria-describedby="${described}"`}
${error ? html` aria-invalid="true"` : ''}
${field.required ? html` required` : ''}
${field.lengthMax ? html` data-length-max="${field.lengthMax}"` : ''}
${field.suggestedFrom ? html` data-suggested-from="${field.suggestedFrom}"` : ''}
${suggestions.length > 0 ? html` list="${id}-list"` : ''}
 autocomplete="${field.autocomplete ?? 'off'}">
${suggestions.length > 0 ? html`<datalist id="${id}-list">${suggestions.map((one) => html`<option value="${one}">`)}</datalist>` : ''}
${error ? html`<p class="error" id="${id}-error">${error}</p>` : ''}
</div>`
}

export interface Choice {
  name: string
  label: string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  hint?: string
  error?: string | undefined
}

export function showChoice({ name, label, value, options, hint, error }: Choice): Html {
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ')
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : ''}
<select id="${name}" name="${name}"${described === '' ? '' : html` aria-describedby="${described}"`}>
${options.map(([one, text]) => html`<option value="${one}"${one === value ? html` selected` : ''}>${text}</option>`)}
</select>
${error ? html`<p class="error" id="${name}-error">${error}</p>` : ''}
</div>`
}

/** What makes a form that is sent twice do its work once: the id of what it will make is made from it. */
export function showFormTag(tag: string = randomUUID()): Html {
  return html`<input type="hidden" name="form" value="${tag}">`
}

/** An id that only this user can come to by this tag, so that nobody learns or takes anybody else's. */
export function idFromFormTag(userId: string, tag: string): string {
  if (tag === '') return randomUUID()
  const digits = hash('sha256', `${userId}\n${tag}`, 'hex')
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
}
