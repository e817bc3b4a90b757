import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHistogram } from '../../src/model/health/histogram.ts'
import { histogramSamples, renderMetrics } from '../../src/ops/exposition.ts'

test('a family has its description, its type and its samples', () => {
  const text = renderMetrics([
    {
      name: 'requests_total',
      type: 'counter',
      help: 'Answers.',
      samples: [{ labels: { route: '/', status: '200' }, value: 3 }, { value: 0.5 }],
    },
    { name: 'absent', type: 'gauge', help: 'No samples.', samples: [] },
  ])
  assert.equal(
    text,
    '# HELP requests_total Answers.\n# TYPE requests_total counter\n' +
      'requests_total{route="/",status="200"} 3\nrequests_total 0.5\n',
  )
})

test('a label keeps its line, whatever its value', () => {
  const samples = [{ labels: { version: 'a"b\\c\nd' }, value: 1 }]
  const text = renderMetrics([{ name: 'n', type: 'gauge', help: 'h', samples }])
  assert.equal(text.split('\n')[2], 'n{version="a\\"b\\\\c\\nd"} 1')
})

test('buckets are cumulative, with their bounds in the unit of the format', () => {
  const histogram = createHistogram([1, 500])
  for (const value of [0.5, 1, 1.5, 500, 501]) histogram.observe(value)
  assert.deepEqual(
    histogramSamples(histogram, 1_000, { route: 'r' }).map(({ suffix, labels, value }) => [
      suffix,
      labels?.le,
      value,
    ]),
    [
      ['_bucket', '0.001', 2],
      ['_bucket', '0.5', 4],
      ['_bucket', '+Inf', 5],
      ['_sum', undefined, 1.004],
      ['_count', undefined, 5],
    ],
  )
})
