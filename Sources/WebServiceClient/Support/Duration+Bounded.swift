extension Duration {
    /// A hundred years: what is longer means "for ever", and the clocks' sleep traps on it.
    static let longest = Duration.seconds(100 * 366 * 86_400)

    /// The duration, but no longer than ``longest``.
    package var bounded: Duration { min(self, Self.longest) }

    /// The components of the nearest duration that has some: `components` traps from 2^63 seconds on, and a duration can be 18 times as long.
    package var clampedComponents: (seconds: Int64, attoseconds: Int64) {
        let limit = Duration(secondsComponent: .max, attosecondsComponent: 0)
        return max(.zero - limit, min(limit, self)).components
    }
}
