import type { Page } from 'playwright-core'
import { PASSWORD } from '../../fixtures/dashboard.ts'

/** What a user with a full account does. `members` is the page of an organization's members. */
export function actionsOf(members: string): State[] {
  return [...serverStates(), ...keyStates(), ...formStates(members)]
}

function serverStates(): State[] {
  return [
    {
      path: 'dashboard/servers',
      async act(page) {
        await submit(page, 'text=Unpublish >> nth=1')
        await page.waitForSelector('text=Undo')
      },
    },
    {
      path: 'dashboard/servers?select=1&sort=name',
      async act(page) {
        await submit(page, '[value=deleted]')
        await page.waitForSelector('text=Delete these servers?')
      },
    },
    {
      path: 'dashboard/servers/new',
      async act(page) {
        await page.fill('#name', 'x')
        await page.fill('#address', 'a b')
        await page.click('main summary')
        await page.fill('#slug', 'a b')
        await submit(page, 'main .primary')
        await page.waitForSelector('.error')
      },
    },
    sending(
      'dashboard/servers/import',
      { '#text': 'name,address\n,a b\nx,c d' },
      'main .primary',
      'text=Nothing was imported',
    ),
    sending(
      'dashboard/servers/import',
      { '#text': 'name,address,version\nnew,new.example,1' },
      'main .primary',
      'text=Check the import',
    ),
  ]
}

function keyStates(): State[] {
  return [
    {
      path: 'dashboard/api?name=',
      async act(page) {
        await page.fill('#name', 'bot')
        await submit(page, 'text=Issue key')
        await page.waitForSelector('#key')
        await openEverything(page)
      },
    },
    { path: 'dashboard/api?span=7d' },
    { path: 'dashboard/api?span=30d' },
    sending('dashboard/api?name=', { '#name': '\u3164' }, 'text=Issue key', '#name-error'),
    {
      path: 'dashboard/api',
      async act(page) {
        await page.click('text=Has a key leaked?')
        await page.fill('#leaked', 'svc_live_none')
        await submit(page, 'text=Delete leaked keys')
        await page.waitForSelector('#leaked-error')
      },
    },
    {
      path: 'dashboard/api',
      async act(page) {
        await submit(page, 'text=Replace… >> nth=0')
        await submit(page, 'main .primary')
        await page.waitForSelector('text=The old key still works')
      },
    },
    {
      path: 'dashboard/api',
      async act(page) {
        await submit(page, '.keys >> text=Delete… >> nth=0')
        await submit(page, 'main .danger')
        await page.waitForSelector('text=was deleted')
      },
    },
  ]
}

function formStates(members: string): State[] {
  return [
    sending(
      members,
      { '#email': 'gus@example.com' },
      'button:text-is("Add member")',
      '.notice.good',
    ),
    sending(members, { '#email': 'new@example.com' }, 'button:text-is("Add member")', '.error'),
    sending(
      'dashboard/organizations',
      { '#name': '\u3164', '#slug': 'A B' },
      'main .card .primary',
      '.error',
    ),
    sending(
      'dashboard/account',
      { '#email': 'new@example.com', '#email-password': 'not this one' },
      'text=Change email',
      '.error',
    ),
  ]
}

/** A form that the user fills in and sends, up to what the answer then shows. */
export function sending(
  path: string,
  fields: Readonly<Record<string, string>>,
  button: string,
  shown: string,
): State {
  return {
    path,
    async act(page) {
      for (const [field, value] of Object.entries(fields)) await page.fill(field, value)
      await submit(page, button)
      await page.waitForSelector(shown)
    },
  }
}

/** What a session that is no longer fresh asks for. */
export const LATER: State[] = [
  {
    path: 'dashboard/operator/users?q=carl',
    async act(page) {
      await submit(page, 'td a')
      await submit(page, 'text=End all sessions…')
      await submit(page, 'main .danger')
      await page.fill('#password', 'not this one')
      await submit(page, 'main .primary')
      await page.waitForSelector('#password-error')
    },
  },
  {
    path: 'dashboard/operator/users?q=carl',
    async act(page) {
      await submit(page, 'td a')
      await submit(page, 'text=Create a sign-in link…')
      await submit(page, 'main .primary')
      await page.fill('#password', PASSWORD)
      await submit(page, 'main .primary')
      await page.waitForSelector('#link')
    },
  },
  { path: 'dashboard/operator/users?q=no-user' },
  sending('dashboard/api?name=', { '#name': 'bot' }, 'text=Issue key', '#password'),
]

/**
 * Clicks what leads to another page, and waits for that page. Without the wait, a picture shows the
 * page before, or Chromium can't take one: "Unable to capture screenshot".
 */
export async function submit(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.click(selector)])
}

/** Opens the account menu and whatever else is closed. */
export async function openEverything(page: Page): Promise<void> {
  await page.evaluate(`for (const one of document.querySelectorAll('details'))
    if (!one.name) one.open = true`)
}

export interface State {
  /** From the root of the dashboard. */
  path: string
  /** What the user does on the page, up to the state. */
  act?: (page: Page) => Promise<void>
}
