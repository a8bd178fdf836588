extension Duration {
    /// The duration in whole milliseconds, the nearest: for texts, which would have 18 digits behind the point otherwise.
    package var roundedToMilliseconds: Duration {
        let (seconds, attoseconds) = components
        let milliseconds = (Double(attoseconds) / 1e15).rounded()
        return Duration(secondsComponent: seconds, attosecondsComponent: 0) + .milliseconds(Int64(milliseconds))
    }
}
