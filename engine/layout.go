package engine

import "math"

// layout places the nodes of a graph on a plane: neighbours attract, all repel,
// in proportion to their degrees (ForceAtlas2: Jacomy et al., PLoS ONE 9(6),
// 2014), with the repulsion of far nodes summed over the cells of a quadtree
// (Barnes and Hut, Nature 324, 1986). The same graph gives the same places on
// every machine: products are converted before they are added, which forbids
// fusing the two, and nothing but sums, products and square roots is used.
type layout struct {
	x, y   []float64
	fx, fy []float64 // forces
	ox, oy []float64 // forces of the round before
	mass   []float64 // degree + 1
	edges  [][2]int32
	tree   quadtree
	speed  float64
}

const (
	layoutRepulsion = 10.0
	layoutGravity   = 1.0
	layoutTheta     = 1.2 // size of a cell by its distance, from which it counts as one
	layoutTolerance = 1.0
)

// newLayout takes the nodes with the most neighbours first. Each begins near
// those of its neighbours that have a place.
func newLayout(nodes int, edges [][2]int32) *layout {
	l := &layout{edges: edges, speed: 1}
	for _, s := range []*[]float64{&l.x, &l.y, &l.fx, &l.fy, &l.ox, &l.oy, &l.mass} {
		*s = make([]float64, nodes)
	}
	earlier := make([][]int32, nodes)
	for _, e := range edges {
		l.mass[e[0]]++
		l.mass[e[1]]++
		a, b := max(e[0], e[1]), min(e[0], e[1])
		earlier[a] = append(earlier[a], b)
	}
	size := math.Sqrt(float64(nodes)) * 20
	random := uint64(1)
	next := func() float64 { // in -1..1
		random = random*6364136223846793005 + 1442695040888963407
		return float64(random>>11)/(1<<52) - 1
	}
	for i := range l.x {
		l.mass[i]++
		jx, jy := next(), next()
		if len(earlier[i]) == 0 {
			l.x[i], l.y[i] = size*jx, size*jy
			continue
		}
		var x, y float64
		for _, j := range earlier[i] {
			x += l.x[j]
			y += l.y[j]
		}
		n := float64(len(earlier[i]))
		l.x[i], l.y[i] = x/n+float64(size*jx/10), y/n+float64(size*jy/10)
	}
	return l
}

// layoutRounds returns how many rounds settle a graph of that many nodes well enough.
func layoutRounds(nodes int) int { return min(600, max(120, 2_000_000/max(nodes, 1))) }

func (l *layout) run(rounds int) {
	for range rounds {
		l.round()
	}
}

func (l *layout) round() {
	l.fx, l.ox = l.ox, l.fx
	l.fy, l.oy = l.oy, l.fy
	l.tree.build(l.x, l.y, l.mass)
	for i := range l.x {
		fx, fy := l.tree.repulsion(l.x[i], l.y[i], l.mass[i])
		if d := math.Sqrt(float64(l.x[i]*l.x[i]) + float64(l.y[i]*l.y[i])); d > 0 {
			g := layoutGravity * l.mass[i] / d
			fx -= float64(l.x[i] * g)
			fy -= float64(l.y[i] * g)
		}
		l.fx[i], l.fy[i] = fx, fy
	}
	for _, e := range l.edges {
		dx, dy := l.x[e[0]]-l.x[e[1]], l.y[e[0]]-l.y[e[1]]
		l.fx[e[0]] -= dx
		l.fy[e[0]] -= dy
		l.fx[e[1]] += dx
		l.fy[e[1]] += dy
	}
	l.move()
}

// move lets the nodes follow their forces: slower the more they swing.
func (l *layout) move() {
	var swinging, traction float64
	for i := range l.x {
		sx, sy := l.fx[i]-l.ox[i], l.fy[i]-l.oy[i]
		tx, ty := l.fx[i]+l.ox[i], l.fy[i]+l.oy[i]
		swinging += float64(l.mass[i] * math.Sqrt(float64(sx*sx)+float64(sy*sy)))
		traction += float64(l.mass[i]*math.Sqrt(float64(tx*tx)+float64(ty*ty))) / 2
	}
	if swinging > 0 {
		l.speed = min(layoutTolerance*traction/swinging, float64(1.5*l.speed))
	}
	for i := range l.x {
		sx, sy := l.fx[i]-l.ox[i], l.fy[i]-l.oy[i]
		swing := float64(l.mass[i] * math.Sqrt(float64(sx*sx)+float64(sy*sy)))
		f := l.speed / (1 + math.Sqrt(float64(l.speed*swing)))
		l.x[i] += float64(l.fx[i] * f)
		l.y[i] += float64(l.fy[i] * f)
	}
}

// quadtree sums masses over cells.
type quadtree struct {
	cells []cell
	path  []int32 // of repulsion
}

// cell is a square. A leaf has one body, or several in the same place.
type cell struct {
	x, y, mass float64 // centre of mass, times mass while the tree is built
	size       float64
	child      [4]int32 // 0 = none
	leaf       bool
}

const quadtreeDepth = 40

func (q *quadtree) build(x, y, mass []float64) {
	minX, minY, maxX, maxY := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for i := range x {
		minX, maxX = min(minX, x[i]), max(maxX, x[i])
		minY, maxY = min(minY, y[i]), max(maxY, y[i])
	}
	size := max(maxX-minX, maxY-minY, 1e-9)
	q.cells = append(q.cells[:0], cell{size: size})
	if len(x) == 0 {
		return
	}
	q.cells[0] = cell{x: x[0], y: y[0], mass: mass[0], size: size, leaf: true}
	for i := 1; i < len(x); i++ {
		q.insert(x[i], y[i], mass[i], minX, minY, size)
	}
}

func (q *quadtree) insert(x, y, mass, left, top, size float64) {
	at := int32(0)
	for depth := 0; ; depth++ {
		c := &q.cells[at]
		total := c.mass + mass
		was := *c
		c.x = (float64(c.x*c.mass) + float64(x*mass)) / total
		c.y = (float64(c.y*c.mass) + float64(y*mass)) / total
		c.mass = total
		if was.leaf {
			if depth == quadtreeDepth || was.x == x && was.y == y {
				return
			}
			c.leaf = false // its body moves down
			i, _, _ := quadrant(was.x, was.y, left, top, size)
			q.cells = append(q.cells, cell{x: was.x, y: was.y, mass: was.mass, size: size / 2, leaf: true})
			q.cells[at].child[i] = int32(len(q.cells) - 1)
		}
		i, l, t := quadrant(x, y, left, top, size)
		left, top, size = l, t, size/2
		next := q.cells[at].child[i]
		if next == 0 {
			q.cells = append(q.cells, cell{x: x, y: y, mass: mass, size: size, leaf: true})
			q.cells[at].child[i] = int32(len(q.cells) - 1)
			return
		}
		at = next
	}
}

// quadrant returns which quarter of a square a place is in, and its corner.
func quadrant(x, y, left, top, size float64) (i int, l, t float64) {
	half := size / 2
	l, t = left, top
	if x >= left+half {
		i, l = 1, left+half
	}
	if y >= top+half {
		i, t = i+2, top+half
	}
	return i, l, t
}

// repulsion sums the forces on a body.
func (q *quadtree) repulsion(x, y, mass float64) (fx, fy float64) {
	q.path = append(q.path[:0], 0)
	for len(q.path) > 0 {
		c := &q.cells[q.path[len(q.path)-1]]
		q.path = q.path[:len(q.path)-1]
		dx, dy := x-c.x, y-c.y
		d2 := float64(dx*dx) + float64(dy*dy)
		if c.leaf || float64(c.size*c.size) < float64(layoutTheta*layoutTheta*d2) {
			if d2 > 0 {
				f := layoutRepulsion * mass * c.mass / d2
				fx += float64(dx * f)
				fy += float64(dy * f)
			}
			continue
		}
		for _, i := range c.child {
			if i != 0 {
				q.path = append(q.path, i)
			}
		}
	}
	return fx, fy
}
