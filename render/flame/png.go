package flame

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"kitescope/profile/flame"
)

// PNG draws a picture in pixels, each drawn with o.Scale by o.Scale of them.
func PNG(w io.Writer, t *flame.Tree, o Options) error {
	scale := min(o.Scale, 4)
	if scale <= 0 {
		scale = 2
	}
	b := &pngBrush{scale: float64(scale)}
	p := newPicture(t, &o, 0.4/b.scale)
	b.faces = p.faces
	p.draw(b)
	// Few colours: strong compression takes little time and saves much.
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	return encoder.Encode(w, b.canvas.Image())
}

// pngBrush draws rectangles on whole pixels, which keeps them sharp, and text with gonum/plot.
type pngBrush struct {
	scale  float64
	canvas *vgimg.Canvas
	img    draw.Image
	height float64
	faces  [3]font.Face
}

func (b *pngBrush) begin(width, height int, background color.RGBA, _ string) {
	b.height = float64(height)
	img := image.NewRGBA(image.Rect(0, 0, int(float64(width)*b.scale), int(float64(height)*b.scale)))
	// 72 dots an inch make a point a pixel.
	b.canvas = vgimg.NewWith(vgimg.UseImage(img), vgimg.UseDPI(int(72*b.scale)))
	b.img = b.canvas.Image()
	b.rect(0, 0, float64(width), float64(height), background)
}

func (*pngBrush) frame([]string) {}
func (*pngBrush) end()           {}

func (b *pngBrush) rect(x, y, w, h float64, fill color.RGBA) {
	at := func(v float64) int { return int(math.Round(v * b.scale)) }
	r := image.Rect(at(x), at(y), max(at(x+w), at(x)+1), max(at(y+h), at(y)+1))
	draw.Draw(b.img, r, image.NewUniform(fill), image.Point{}, draw.Src)
}

func (b *pngBrush) text(x, y float64, style textStyle, ink color.RGBA, s string) {
	b.canvas.SetColor(ink)
	b.canvas.FillString(b.faces[style], vg.Point{X: vg.Length(x), Y: vg.Length(b.height - y - baseline(style))}, s)
}
