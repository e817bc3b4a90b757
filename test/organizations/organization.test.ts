import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkOrganizationName,
  complaintAboutOrganizationSlug,
  isOrganizationSlug,
} from '../../src/organizations/organization.ts'

test("an organization's name is a trimmed line of 1 to 100 characters", () => {
  assert.deepEqual(checkOrganizationName('  Red Stone '), { name: 'Red Stone' })
  assert.deepEqual(checkOrganizationName('x'.repeat(100)), { name: 'x'.repeat(100) })
  assert.deepEqual(checkOrganizationName(' '), {
    complaint: 'The name must have 1 to 100 characters, not 0.',
  })
  assert.ok('complaint' in checkOrganizationName('x'.repeat(101)))
  assert.ok('complaint' in checkOrganizationName('a\nb'))
})

test('a slug has lowercase letters, digits and single hyphens, and at most 64 of them', () => {
  for (const slug of ['a', '7', 'red-stone', 'a-b-c', '1-2', 'x'.repeat(64)]) {
    assert.ok(isOrganizationSlug(slug), slug)
    assert.equal(complaintAboutOrganizationSlug(slug), null)
  }
  const bad = ['', '-', '-a', 'a-', 'a--b', 'A', 'a b', 'a_b', 'é', 'a\n', '\na', 'x'.repeat(65)]
  for (const slug of bad) {
    assert.ok(!isOrganizationSlug(slug), slug)
    const complaint = complaintAboutOrganizationSlug(slug) ?? ''
    assert.match(
      complaint,
      /only lowercase letters, digits and single hyphens, at most 64 characters/,
    )
    assert.ok(complaint.includes(JSON.stringify(slug)), complaint)
  }
})
