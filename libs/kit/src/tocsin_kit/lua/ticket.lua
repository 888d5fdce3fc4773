-- Let a run into the investigations that go on at once, if it is its turn.
-- KEYS: held, waiting
-- ARGV: 1 run, 2 rank (less is more urgent), 3 source, 4 now ms, 5 tickets there are,
--       6 ms until a waiting run that did not ask again is forgotten, 7 ms of waiting that are worth
--       a rank, then the runs that need their ticket no more
-- Returns {1 or 0, runs that wait}
local held, waiting = KEYS[1], KEYS[2]
local run, now = ARGV[1], tonumber(ARGV[4])
for i = 8, #ARGV do redis.call('HDEL', held, ARGV[i]) end
if redis.call('HEXISTS', held, run) == 1 then return {1, redis.call('HLEN', waiting)} end

local known = redis.call('HGET', waiting, run)
local since = known and string.match(known, '^%d+') or ARGV[4]
redis.call('HSET', waiting, run, table.concat({since, ARGV[4], ARGV[2], ARGV[3]}, ' '))
local free = tonumber(ARGV[5]) - redis.call('HLEN', held)
if free <= 0 then return {0, redis.call('HLEN', waiting)} end

local of = {}
for _, source in ipairs(redis.call('HVALS', held)) do of[source] = (of[source] or 0) + 1 end
local asking, fields = {}, redis.call('HGETALL', waiting)
for i = 1, #fields, 2 do
  local first, last, rank, source = string.match(fields[i + 1], '^(%d+) (%d+) (%d+) (.*)$')
  if now - tonumber(last) > tonumber(ARGV[6]) then
    redis.call('HDEL', waiting, fields[i])
  else
    local urgent = tonumber(rank) - math.floor((now - tonumber(first)) / tonumber(ARGV[7]))
    asking[#asking + 1] = {run = fields[i], urgent = urgent, source = source, since = tonumber(first)}
  end
end
local function before(a, b)
  if a.urgent ~= b.urgent then return a.urgent < b.urgent end
  local mine, theirs = of[a.source] or 0, of[b.source] or 0
  if mine ~= theirs then return mine < theirs end
  if a.since ~= b.since then return a.since < b.since end
  return a.run < b.run
end
for _ = 1, math.min(free, #asking) do
  local best
  for i, one in ipairs(asking) do
    if not best or before(one, asking[best]) then best = i end
  end
  local next = table.remove(asking, best)
  of[next.source] = (of[next.source] or 0) + 1
  if next.run == run then
    redis.call('HSET', held, run, ARGV[3])
    redis.call('HDEL', waiting, run)
    return {1, redis.call('HLEN', waiting)}
  end
end
return {0, redis.call('HLEN', waiting)}
