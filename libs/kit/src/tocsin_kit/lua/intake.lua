-- Attach one delivery of an alert to its run, or open one, and keep the news until it is published.
-- KEYS: incident
-- ARGV: 1 status, 2 fingerprint, 3 start of the alert in ms ('' if the sender does not say),
--       4 run id to open, 5 now ms, 6 time to live ms, 7 the alert,
--       8 run id to open where the first is that of an ended run
-- Returns {outcome, run id, occurrences, alerts still firing, number of the stored news}
-- Outcomes: opened, attached, resolved, ignored
local EPISODES_KEPT = 500
local key = KEYS[1]
local run = redis.call('HGET', key, 'run')
local open = redis.call('HGET', key, 'open') == '1'
local member, episode = 'firing:' .. ARGV[2], 'episode:' .. ARGV[2]
local start = tonumber(ARGV[3])

-- An episode is over when its alert resolved, or when the alert starts later than ever before. Of
-- an alert that does not say when it started, only the first can be told.
local known = tonumber(redis.call('HGET', key, episode) or '')
local same_episode = run and known and (not start or start <= known)
-- A run that a rule ended keeps its episodes only for as long as the rule holds.
local reopens = tonumber(redis.call('HGET', key, 'reopens') or '')
if not open and reopens and tonumber(ARGV[5]) >= reopens then same_episode = false end

local outcome
if ARGV[1] == 'resolved' then
  if not run or redis.call('HEXISTS', key, member) == 0 then return {'ignored', run or '', 0, 0, 0} end
  redis.call('HDEL', key, member)
  if known == 0 then redis.call('HDEL', key, episode) end
  outcome = 'resolved'
elseif open or same_episode then
  outcome = 'attached'
else
  -- Episodes stay known: an alert that outlives its run would name that run again.
  local episodes = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.find(field, '^episode:') then
      episodes[#episodes + 1] = field
    elseif not string.find(field, '^out:') and field ~= 'news' then
      redis.call('HDEL', key, field)
    end
  end
  if #episodes > EPISODES_KEPT then
    local at = {}
    for _, field in ipairs(episodes) do at[field] = tonumber(redis.call('HGET', key, field)) end
    table.sort(episodes, function(a, b) return at[a] > at[b] end)
    for i = EPISODES_KEPT + 1, #episodes do redis.call('HDEL', key, episodes[i]) end
  end
  run, outcome = run == ARGV[4] and ARGV[8] or ARGV[4], 'opened'
  redis.call('HSET', key, 'run', run, 'open', '1')
end

if outcome ~= 'resolved' then
  redis.call('HSET', key, member, '1', episode, string.format('%.0f', math.max(start or 0, known or 0)))
end
local firing = 0
for _, field in ipairs(redis.call('HKEYS', key)) do
  if string.sub(field, 1, 7) == 'firing:' then firing = firing + 1 end
end
local count = outcome == 'resolved' and tonumber(redis.call('HGET', key, 'count') or '0')
  or redis.call('HINCRBY', key, 'count', 1)
local news = redis.call('HINCRBY', key, 'news', 1)
redis.call('HSET', key, 'out:' .. news,
  table.concat({outcome, run, count, firing, ARGV[5], ARGV[7]}, '\n'))
redis.call('PEXPIRE', key, ARGV[6])
return {outcome, run, count, firing, news}
