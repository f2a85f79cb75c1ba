package offline

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Chinese is cut into terms at function characters and at common verbs and
// adverbs; words that merely contain such a character are protected. The lists
// are small: what they miss stays glued to its neighbour.
var (
	hanCuts = "的了是在和与及或于从对为以被把将由而且但并也都就则其之这那此该每各又再很最更已还只若因让使向到给等着过们我你他她它曾均共约于个吗呢吧啊谁哪几有"

	hanProtected = set(`和平 共和国 人民共和国 饱和 总和 和谐 华为 以色列 对象 将军 研究所 研究院 研究中心 研究员 有机 基因 原因 因素 过程 过滤 等级 高等 平等 大使 天使 使命 方向 向量 自由 理由 土耳其 行为 首都 成都 京都 都市 成就 埃及 普及 将来 了解 从事 供给 再生 并购 合并 其实 之一 共享 公共 共同 共产党 个人 个体 有限公司 有限 特有 国有 所有 只读 约定 条约 节约 委员会 因子 到达 着陆 我国 更新 对话 对比 反对 相对 绝对 针对 中的 目的 目的地 的士 最优 最大 最小 以太 以太网 在线 内在 潜在 着色 因果 使馆 给水 由来 大都会 都江堰 曾国藩 共识 共和 公约 契约 纽约 大约 有效 占有 稀有 资产 与会 给养`)

	hanVerbs   = set(`位于 成立 创立 创办 建立 建成 发现 提出 出生 研究 开发 发明 发布 获得 使用 采用 进行 开始 成为 认为 属于 包括 包含 拥有 负责 担任 领导 参与 参加 合作 支持 提供 推出 生产 制造 设计 建造 管理 运营 流经 连接 影响 导致 促进 改变 提高 减少 增加 保护 解决 需要 利用 毕业 去世 撰写 出版 结婚 来自 前往 实现 组成 形成 分为 称为 命名 用于 致力 主管 覆盖 发起 签署 举行 举办 收购 投资 帮助 存储 计算 表示 说明 记录 观察 观测 监测 测量 种植 学习 任教 当选 迁移 依靠 依赖 面临 威胁 流入 注入 发源 起源 修建 修复 资助 控制 调节 具有 存在 作出 做出 共同 引起 造成`)
	hanFillers = set(`通过 根据 由于 关于 对于 随着 因此 因为 所以 但是 然而 而且 以及 或者 如果 虽然 为了 可以 可能 能够 应该 必须 已经 正在 现在 目前 当时 后来 同时 之后 之前 以后 以前 其中 其他 一些 许多 很多 非常 主要 重要 这些 那些 这个 那个 这种 那种 什么 怎么 怎样 如何 为什么 哪里 哪些 哪个 多少 没有 不是 就是 还是 也是 作为 例如 比如 等等 我们 他们 她们 它们 自己 一个 一种 一座 一家 一位 一条 一项 第一 第二 两个 三个 之间 不仅 不同 各种 所有 通常 一直 曾经 尤其 特别 最终 首先 其次 最后 一起 分别 大约 超过 达到 成功 著名 最大 最早 最长 以来 今天 今年 每年 时候 时间 方面 中国人 一样 只有 才能 仍然 请问 介绍 告诉 谁是 有何 有关 有哪些 是否 不会 不能 这里 那里 左右 之外 由此 于是 此外 另外 并且 还有 而是 它的 他的 她的 其它 位置 不断 逐渐 直接 至今 共有`)

	hanOrg     = strings.Fields(`大学 学院 公司 集团 银行 研究所 研究院 研究中心 实验室 委员会 组织 协会 学会 基金会 政府 机构 博物馆 图书馆 医院 学校 中学 小学 联盟 观测站 观测所 合作社 会社 大学校 研究室 機構 銀行 大學 協会 委員会 学園 病院 博物館 図書館 庁 省 電機 工業`)
	hanPlace   = "市省县州国河江湖山岛海洋区镇村島県都府川湾港洲峡"
	hanPlaces  = set(`中国 美国 日本 韩国 德国 法国 英国 俄罗斯 印度 澳大利亚 加拿大 意大利 西班牙 波兰 欧洲 亚洲 非洲 北京 上海 广州 深圳 天津 重庆 香港 台湾 南京 杭州 武汉 成都 西安 首尔 东京 柏林 巴黎 伦敦 纽约 華沙 华沙 长江 黄河 東京 大阪 京都 北海道 韓国 米国 英国 ドイツ フランス アメリカ イギリス ロンドン パリ ベルリン`)
	hanTitles  = strings.Fields(`教授 博士 先生 女士 院士 总统 主席 总理 将军 校长 工程师 科学家 さん 氏 大統領 首相`)
	hanRoles   = strings.Fields(`物理学家 化学家 科学家 数学家 生物学家 哲学家 作家 诗人 画家 音乐家 政治家 发明家 工程师 教授 学者 医生 导演 演员 皇帝 国王 物理学者 化学者 科学者 数学者 作家 詩人 画家 政治家 技術者 研究者 学者`)
	hanSurname = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文屠"
	hanMeasure = "年月日名个人万亿米次条座位家度种天岁吨公千百元时分秒倍"
)

// hanPiece is one term of a Han run: bytes [start, end) of the sentence.
type hanPiece struct {
	start, end int
	verb       bool // a verb of hanVerbs
	cut        bool // the run was cut right behind it, or ended there
	subject    bool
}

// hanPieces appends the terms of the run text[start:end].
func hanPieces(dst []hanPiece, text string, start, end int) []hanPiece {
	begin := start
	flush := func(at int) {
		if at > begin {
			dst = append(dst, hanPiece{start: begin, end: at, cut: true})
		}
	}
	for i := start; i < end; {
		_, n := utf8.DecodeRuneInString(text[i:])
		matched := 0
		for k := 5; k >= 2 && matched == 0; k-- {
			j := i + 3*k // runes of these lists take three bytes
			if j > end || !utf8.RuneStart(byteAt(text, j)) {
				continue
			}
			switch w := text[i:j]; {
			case hanProtected[w]:
				matched = j - i
			case k == 2 && hanVerbs[w]:
				flush(i)
				dst = append(dst, hanPiece{start: i, end: j, verb: true, cut: true})
				begin, matched = j, j-i
			case k <= 3 && hanFillers[w]:
				flush(i)
				begin, matched = j, j-i
			}
		}
		if matched > 0 {
			i += matched
			continue
		}
		if strings.Contains(hanCuts, text[i:i+n]) {
			flush(i)
			begin = i + n
		}
		i += n
	}
	flush(end)
	return dst
}

// byteAt returns text[i], or a rune start when i is the end.
func byteAt(text string, i int) byte {
	if i >= len(text) {
		return 0
	}
	return text[i]
}

// hanTerms finds terms of Chinese and Japanese sentences.
func (x *extraction) hanTerms() {
	grams := &grams{index: map[string]int32{}}
	var pieces []hanPiece
	for si := range x.sents {
		pieces = x.pieces(pieces[:0], &x.sents[si])
		for k := range pieces {
			if p := &pieces[k]; !p.verb {
				x.hanTerm(int32(si), pieces, k)
				if x.lang == chinese {
					grams.count(x.sents[si].text[p.start:p.end])
				}
			}
		}
	}
	x.repeatedGrams(grams)
	x.locateHan()
}

// pieces cuts one sentence. In Japanese a run of Han or katakana, or of both
// side by side, is a term as it stands.
func (x *extraction) pieces(dst []hanPiece, s *sentence) []hanPiece {
	for k := 0; k < len(s.toks); k++ {
		t := &s.toks[k]
		if t.script != scriptHan && t.script != scriptKatakana {
			continue
		}
		first := len(dst)
		start, end := int(t.start), int(t.end)
		if x.lang == japanese {
			for k+1 < len(s.toks) && !s.toks[k+1].space && (s.toks[k+1].script == scriptHan || s.toks[k+1].script == scriptKatakana) {
				k++
				end = int(s.toks[k].end)
			}
		}
		if p := k - 1; p >= 0 && s.toks[p].script == scriptDigit && t.start == s.toks[p].end {
			for start < end { // a measure word belongs to its number
				_, n := utf8.DecodeRuneInString(s.text[start:])
				if !strings.Contains(hanMeasure, s.text[start:start+n]) {
					break
				}
				start += n
			}
		}
		if x.lang == japanese {
			if end > start {
				topic := k+1 < len(s.toks) && s.toks[k+1].script == scriptHiragana && (strings.HasPrefix(s.toks[k+1].text, "は") || strings.HasPrefix(s.toks[k+1].text, "が"))
				dst = append(dst, hanPiece{start: start, end: end, cut: true, subject: topic && start < 40})
			}
			continue
		}
		dst = hanPieces(dst, s.text, start, end)
		if first == 0 && len(dst) > 0 && dst[0].start < 4 && !dst[0].verb && (dst[0].end < end || k+1 < len(s.toks)) {
			dst[0].subject = true
		}
	}
	return dst
}

// hanTerm stores piece k with the evidence of its suffix and neighbours.
func (x *extraction) hanTerm(si int32, pieces []hanPiece, k int) {
	p := pieces[k]
	text := x.sents[si].text
	name := text[p.start:p.end]
	titled := false
	for _, t := range hanTitles {
		if strings.HasSuffix(name, t) && len(name) > len(t)+3 && runes(name) <= 9 {
			name, titled = strings.TrimSuffix(name, t), true
			break
		}
	}
	if rest := text[p.start+len(name):]; strings.HasPrefix(rest, "教授") || strings.HasPrefix(rest, "さん") || strings.HasPrefix(rest, "氏") {
		titled = true
	}
	if x.lang == japanese {
		name = strings.TrimSuffix(name, "出身")
	}
	n := runes(name)
	if n < 2 || n > 12 || hanGeneric[name] {
		return
	}
	id := x.add(name, kindConcept)
	e := &x.entities[id]
	nextVerb := ""
	if k+1 < len(pieces) && pieces[k+1].verb && pieces[k+1].start-p.end < 4 {
		nextVerb = text[pieces[k+1].start:pieces[k+1].end]
	}
	surname := n <= 3 && strings.Contains(hanSurname, name[:3])
	switch {
	case titled, strings.Contains(name, "·"), strings.Contains(name, "・"):
		e.vote(typePerson, 3)
	case hanPlaces[name]:
		e.vote(typeLocation, 3)
	case endsWith(name, hanOrg) && n > 2:
		e.vote(typeOrganization, 3)
	case surname && (p.subject || nextVerb != "") && (hanPersonVerbs[nextVerb] || strings.Contains(text, "出生") || strings.Contains(text, "生于")):
		e.vote(typePerson, 3)
	case strings.ContainsRune(hanPlace, lastRune(name)) && n <= 6:
		e.vote(typeLocation, 2)
	case p.start >= 3 && text[p.start-3:p.start] == "在" && hanHappens[nextVerb]:
		e.vote(typeLocation, 2)
	}
	defined := false
	if p.subject {
		after := text[p.end:]
		defined = strings.HasPrefix(after, "是") || strings.HasPrefix(after, "は") && strings.Contains(after, "である") || strings.HasPrefix(after, "は") && strings.Contains(after, "です")
		if defined {
			if body := strings.TrimRight(firstClause(after), "。.！!"); endsWith(body, hanRoles) {
				e.vote(typePerson, 4)
			} else if endsWith(body, hanOrg) {
				e.vote(typeOrganization, 2)
			} else if strings.ContainsRune("市河江湖山岛国省", lastRune(body)) || strings.HasSuffix(body, "城市") || strings.HasSuffix(body, "首都") {
				e.vote(typeLocation, 3)
			}
		}
	}
	katakana := x.lang == japanese && n >= 3 && scriptOf(firstRune(name)) == scriptKatakana
	if p.subject && n <= 8 || e.typ() != typeConcept || katakana {
		e.admitted = true
	}
	e.words = max(e.words, 1)
	if p.subject || defined {
		x.mention(si, mention{entity: id, start: int32(p.start), end: int32(p.start + len(name)), subject: p.subject, defined: defined})
	}
}

func firstClause(s string) string {
	if i := strings.IndexAny(s, "，,；;"); i >= 0 {
		return s[:i]
	}
	return s
}

var (
	hanGeneric     = set(`所有 然后 另一 注意 使用 方法 情况 部分 内容 上一页 下一页 場合 可能 必要 内容 以下 以上 自分 今回 全体 一部 最初 最後 同様 複数 様々 実際 通常 部分 状態 対象 結果 利用 使用 実行 以外 以降 以前 同時 場所 部品 次 城市 国家 全国 外国 地区 山区 河流 大学 学校 公司 政府 组织 机构 医院 委员会 中心 海洋 岛屿 都市 国立大学 世界 人口`)
	hanPersonVerbs = set(`出生 毕业 担任 认为 提出 发明 发现 创立 创办 去世 结婚 任教 撰写 当选 研究 领导 设计 获得`)
	hanHappens     = set(`成立 出生 举行 举办 建立 创立 去世 建成 签署 学习 任教`)
)

// grams counts the parts of two to five characters of terms, and what stands
// beside them.
type grams struct {
	index map[string]int32
	stats []gramStat
}

// gramStat says how often a gram is met and whether both its sides vary. What
// always has the same neighbour is a piece of a longer word (accessor variety:
// Feng, Chen, Deng and Zheng, Computational Linguistics 30(1), 2004). The end of a term counts as a
// neighbour of its own each time.
type gramStat struct {
	text        string
	uses        int32
	left, right rune
	leftVaries  bool
	rightVaries bool
}

// count counts the parts of a term.
func (g *grams) count(term string) {
	var at [17]int
	var chars [17]rune
	n := 0
	for i, r := range term {
		at[n], chars[n] = i, r
		if n++; n == len(at)-1 {
			break
		}
	}
	at[n] = len(term)
	if n == len(at)-1 {
		n--
	}
	for i := 0; i < n; i++ {
		for k := 2; k <= 5 && i+k <= n; k++ {
			text := term[at[i]:at[i+k]]
			id, ok := g.index[text]
			if !ok {
				id = int32(len(g.stats))
				g.index[text] = id
				g.stats = append(g.stats, gramStat{text: text})
			}
			s := &g.stats[id]
			var left, right rune
			if i > 0 {
				left = chars[i-1]
			}
			if at[i+k] < len(term) {
				right = chars[i+k]
			}
			s.leftVaries = s.leftVaries || left == 0 || s.uses > 0 && s.left != left
			s.rightVaries = s.rightVaries || right == 0 || s.uses > 0 && s.right != right
			s.left, s.right = left, right
			s.uses++
		}
	}
}

// repeatedGrams turns parts of terms that the text repeats into candidates,
// unless a longer part is repeated as often.
func (x *extraction) repeatedGrams(g *grams) {
	covered := make([]bool, len(g.stats))
	for i := range g.stats {
		s := &g.stats[i]
		if s.uses < 2 {
			continue
		}
		first, last := firstRune(s.text), lastRune(s.text)
		for _, part := range [...]string{s.text[runeLen(first):], s.text[:len(s.text)-runeLen(last)]} {
			if k, ok := g.index[part]; ok && g.stats[k].uses == s.uses {
				covered[k] = true
			}
		}
	}
	var names []string
	for i := range g.stats {
		s := &g.stats[i]
		if !covered[i] && s.leftVaries && s.rightVaries && (s.uses >= 3 || s.uses == 2 && runes(s.text) >= 3) &&
			!hanGeneric[s.text] && !strings.ContainsRune("中大小上下不一", firstRune(s.text)) {
			names = append(names, s.text)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x.add(name, kindConcept)
	}
}

func runeLen(r rune) int { return max(utf8.RuneLen(r), 1) }

// locateHan records every occurrence of the likeliest terms. Terms are found as
// substrings, since nothing marks where a word of Chinese ends; the number of
// terms is bounded, so the time stays linear.
func (x *extraction) locateHan() {
	for id := range x.likelyHan() {
		name := x.entities[id].name
		for si := range x.sents {
			text := x.sents[si].text
			for from := 0; ; {
				i := strings.Index(text[from:], name)
				if i < 0 {
					break
				}
				i += from
				from = i + len(name)
				if !x.mentionedAt(int32(si), id, int32(i)) {
					x.mention(int32(si), mention{entity: id, start: int32(i), end: int32(from)})
				}
			}
		}
	}
}

func (x *extraction) mentionedAt(si, id, start int32) bool {
	for _, m := range x.sents[si].mentions {
		if m.entity == id && m.start == start {
			return true
		}
	}
	return false
}

// likelyHan yields at most 160 Han and katakana candidates: those with evidence
// first, then in the order they were found.
func (x *extraction) likelyHan() func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		left := 160
		for _, admitted := range []bool{true, false} {
			for id := range x.entities {
				e := &x.entities[id]
				if sc := scriptOf(firstRune(e.name)); e.admitted != admitted || sc != scriptHan && sc != scriptKatakana {
					continue
				}
				if left--; left < 0 || !yield(int32(id)) {
					return
				}
			}
		}
	}
}
