-- Attach one delivery of an alert to its run, or open one, and keep the news until it is published.
-- KEYS: 1 incident, 2 its alerts by their last delivery
-- ARGV: 1 status, 2 fingerprint, 3 start of the alert in ms ('' if the sender does not say), 4 its
--       end in ms (the same), 5 now ms, 6 time to live ms, 7 the alert, 8 rank of its severity,
--       9 digest of its text, 10 title, 11 run id to open, 12 run id to open where the first may
--       be that of an ended run, 13 ms between two news that add nothing but text, 14 whether a
--       run may be opened
-- Returns outcome, run id, occurrences, alerts still firing, number of the stored news, what is
-- new, episodes, as one text with a bar between each: that is read faster; a number of 0 is no news
-- Outcomes: opened, attached, resolved, ignored; refused, of what may not open a run
local SHIFT = 2 * 60 * 1000  -- replicas and restarts tell one start this far apart
local LATE = 4 * 60 * 1000   -- how long after its end an episode may still be told as firing
local ALERTS_KEPT, RUNS_KEPT = 1000, 20

local key, order = KEYS[1], KEYS[2]
local firing, who, now, rank = ARGV[1] == 'firing', ARGV[2], tonumber(ARGV[5]), tonumber(ARGV[8])
local start, finish = tonumber(ARGV[3]), tonumber(ARGV[4])
local field = 'alert:' .. who

local function int(number) return string.format('%.0f', number or 0) end
local function read(packed)
  if not packed then return nil end
  local number, status, began, ended, at, digest, loud, title =
    string.match(packed, '^(%d+)|(%a+)|(%d+)|(%d+)|(%d+)|(%w*)|(%d+)|(.*)$')
  return {number = tonumber(number), status = status, start = tonumber(began),
    over = tonumber(ended), at = tonumber(at), digest = digest, rank = tonumber(loud), title = title}
end
local record = redis.call('HMGET', key, 'run', 'open', 'number', 'reopens', 'newest', 'count',
  'firing', 'alerts', 'episodes', 'severity', 'first', 'last', 'told', 'opener', field)
local run, open, number = record[1] or '', record[2] == '1', tonumber(record[3] or '0')
local count, burning, alerts = tonumber(record[6] or '0'), tonumber(record[7] or '0'), tonumber(record[8] or '0')
local episodes, severity = tonumber(record[9] or '0'), tonumber(record[10] or '0')
local known = read(record[15])
local mine = known and known.number == number and run ~= ''
local ended = known and known.status == 'resolved'
local function write(alert)
  redis.call('HSET', key, field, table.concat({alert.number, alert.status, int(alert.start),
    int(alert.over), int(alert.at), alert.digest, alert.rank, alert.title}, '|'))
  redis.call('ZADD', order, int(now), who)
  if redis.call('ZCARD', order) <= ALERTS_KEPT then return end
  local oldest = 'alert:' .. redis.call('ZPOPMIN', order)[1]
  local forgotten = read(redis.call('HGET', key, oldest))
  redis.call('HDEL', key, oldest)
  if forgotten.number == number then
    alerts = alerts - 1
    if forgotten.status == 'firing' then burning = burning - 1 end
    redis.call('HSET', key, 'alerts', alerts, 'firing', burning)
  end
end
local function stay(ms)
  redis.call('PEXPIRE', key, ms)
  redis.call('PEXPIRE', order, ms)
end
local function answer(...) return table.concat({...}, '|') end
local function ignored() return answer('ignored', run, 0, 0, 0, '', 0) end

local outcome, news
if not firing then
  -- The end of an episode that is not known yet may have overtaken its start.
  if not known then
    if not (finish or start) then return ignored() end
    write({number = 0, status = 'resolved', start = start, over = finish or start, at = now,
      digest = '', rank = rank, title = ARGV[10]})
    stay(run == '' and LATE or ARGV[6])
    return ignored()
  end
  local earlier = finish and finish + SHIFT < known.start
  if ended or earlier then return ignored() end
  known.status, known.at, known.over = 'resolved', now, math.max(finish or start or 0, known.start)
  write(known)
  if not mine then return ignored() end
  burning, outcome, news = burning - 1, 'resolved', 'resolved'
else
  local late = ended and start and start <= known.over and now - known.at < LATE
  if late and not mine then return ignored() end
  local same = known and not ended and (not start or known.start == 0 or start <= known.start + SHIFT)
  local held = record[4] and now >= tonumber(record[4])  -- the rule that ended the run is over
  local changed = not mine or known.digest ~= ARGV[9]
  outcome = 'attached'
  local quiet = now - tonumber(record[13] or '0') < tonumber(ARGV[13])
  if late then
    news = ''
  elseif not open and same and not held then
    -- Whoever ended the run may have to think again, and who looks after the alert hears it rise.
    news = rank > severity and 'severity' or quiet and '' or 'nothing'
  elseif open then
    news = not mine and 'alert' or not same and 'episode' or rank > severity and 'severity'
      or changed and not quiet and 'text' or ''
    if mine and not same then episodes = episodes + 1 end
    if not mine then alerts = alerts + 1 end
    if not mine or ended then burning = burning + 1 end
  elseif ARGV[14] ~= '1' then
    return answer('refused', run, 0, 0, 0, '', 0)
  else
    if run ~= '' then
      local past = {table.concat({run, count, record[11], record[12], burning, alerts, episodes, severity}, ' ')}
      for line in string.gmatch(redis.call('HGET', key, 'past') or '', '[^\n]+') do
        if #past < RUNS_KEPT then past[#past + 1] = line end
      end
      redis.call('HSET', key, 'past', table.concat(past, '\n'))
    end
    local newest = tonumber(record[5] or '-1')
    run = start and start <= newest and ARGV[12] or ARGV[11]
    number, count, burning, alerts, episodes, severity, mine = number + 1, 0, 1, 1, 1, 0, false
    redis.call('HDEL', key, 'reopens', 'told')
    redis.call('HSET', key, 'run', run, 'open', '1', 'number', number, 'first', ARGV[5],
      'opener', who, 'newest', int(math.max(newest, start or now)))
    record[14], outcome, news = who, 'opened', 'opened'
  end
  count, severity = count + 1, outcome == 'opened' and rank or math.max(severity, rank)
  if news ~= '' then redis.call('HSET', key, 'told', ARGV[5]) end
  if record[14] == who and not late then redis.call('HSET', key, 'shown', ARGV[7]) end
  if not late then
    local began = same and math.max(start or 0, known.start) or start
    local told = (news ~= '' or not mine) and ARGV[9] or known.digest
    write({number = (open or outcome == 'opened') and number or known.number, status = 'firing',
      start = began, over = 0, at = now, digest = told, rank = rank, title = ARGV[10]})
  end
end

redis.call('HSET', key, 'count', count, 'firing', burning, 'alerts', alerts, 'episodes', episodes,
  'severity', severity, 'last', ARGV[5])
stay(ARGV[6])
if news == '' then return answer(outcome, run, count, burning, 0, '', episodes) end
local stored = redis.call('HINCRBY', key, 'news', 1)
redis.call('HSET', key, 'out:' .. stored, table.concat({outcome .. ' ' .. news .. ' ' .. episodes,
  run, count, burning, ARGV[5], ARGV[7]}, '\n'))
return answer(outcome, run, count, burning, stored, news, episodes)
