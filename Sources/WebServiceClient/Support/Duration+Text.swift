extension Duration {
    /// The duration in seconds, with three digits behind the point at most, as messages tell it: `0.318 s`. Its description would have up to 18.
    package var text: String {
        let (seconds, attoseconds) = clampedComponents
        var thousandths = (attoseconds.magnitude + 500_000_000_000_000) / 1_000_000_000_000_000
        let whole = seconds.magnitude + thousandths / 1_000
        thousandths %= 1_000
        var text = whole == 0 && thousandths == 0 || self > .zero ? "\(whole)" : "-\(whole)"
        if thousandths > 0 {
            text += "." + String(1_000 + thousandths).dropFirst()
            while text.hasSuffix("0") { text.removeLast() }
        }
        return text + " s"
    }
}
