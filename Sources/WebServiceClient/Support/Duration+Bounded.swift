extension Duration {
    /// A hundred years: what is longer means "for ever", and the clocks' sleep traps on it.
    static let longest = Duration.seconds(100 * 366 * 86_400)

    /// The duration, but no longer than ``longest``.
    package var bounded: Duration { min(self, Self.longest) }
}
