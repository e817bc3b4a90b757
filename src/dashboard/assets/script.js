/*
 * Comfort only: every page works without this file.
 */

for (const button of document.querySelectorAll('[data-copy]')) {
  const source = document.getElementById(button.dataset.copy)
  const label = button.firstChild.textContent
  button.hidden = false
  const say = (text) => {
    button.firstChild.textContent = text
    setTimeout(() => {
      button.firstChild.textContent = label
    }, 3000)
  }
  button.addEventListener('click', () => {
    void copy(source).then((copied) => say(copied ? 'Copied' : 'Selected: press Ctrl+C'))
  })
}

/** Where the page has no clipboard, as over plain HTTP, the text is selected for the person to copy. */
async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(source)
    return false
  }
}

// A key is on its page as long as that is looked at: not when the browser comes back to it, nor when it is loaded again.
const secret = document.querySelector('[data-secret]')
if (secret !== null) {
  history.replaceState(null, '', location.pathname)
  addEventListener('pagehide', () => secret.replaceChildren('This key was shown once.'))
}

for (const input of document.querySelectorAll('[data-length-max]')) {
  const counter = document.createElement('p')
  counter.className = 'hint'
  counter.setAttribute('aria-live', 'polite')
  input.after(counter)
  const max = Number(input.dataset.lengthMax)
  const count = () => {
    const length = [...input.value.trim()].length
    counter.textContent = `${length} of ${max} characters`
    counter.classList.toggle('error', length > max)
  }
  input.addEventListener('input', count)
  count()
}

for (const input of document.querySelectorAll('[data-suggested-from]')) {
  const source = document.getElementById(input.dataset.suggestedFrom)
  const isRequired = input.required
  let suggested = ''
  source.addEventListener('input', () => {
    const isOurs = input.value === suggested
    suggested = slugOf(source.value, isRequired)
    // A required one is filled in; of another only what it will be is shown.
    if (!isRequired) input.placeholder = suggested
    else if (isOurs) input.value = suggested
  })
}

function slugOf(name, isAscii) {
  const letters = name.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()
  const other = isAscii ? /[^a-z0-9]+/g : /[^\p{L}\p{N}]+/gu
  return letters
    .replace(other, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
}

// A form that is under way is not sent a second time by an impatient finger. The button's own value is still sent.
for (const form of document.querySelectorAll('form[method="post"]'))
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent !== undefined) event.preventDefault()
    form.dataset.sent = ''
  })
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})
