/// An event that a destination's shipper waits for and that another destination or the spool has caused.
struct SpoolNews: Sendable {
    let destination: String
    let news: StoreNews
}

extension SpoolCore {
    /// Sets the condition that wakes a destination's shipper.
    ///
    /// - Returns: Whether the condition isn't met yet.
    func sleep(until condition: WakeCondition, for destination: String) -> Bool {
        state.withLock { state in
            state.destinations.change(destination) { destination in
                destination.wake = condition
                return !destination.wake.take(destination.unread, destination.unreadBytes)
            } ?? true
        }
    }

    /// Requests a notification of a destination's next loss.
    ///
    /// - Returns: Whether nothing is lost yet.
    func awaitLosses(for destination: String) -> Bool {
        state.withLock { state in
            state.destinations.change(destination) { destination in
                destination.isLossAwaited = destination.losses.isEmpty
                return destination.isLossAwaited
            } ?? true
        }
    }

    /// Notifies waiting shippers of the effects of reading or writing.
    func notifyShippers() {
        let news = state.withLock { state in
            var news: [SpoolNews] = []
            state.destinations.changeEach { name, destination in
                destination.takeNews { news.append(SpoolNews(destination: name, news: $0)) }
            }
            return news
        }
        if !news.isEmpty { notify(news) }
    }

    func notify(_ news: [SpoolNews]) {
        let listeners = self.news.withLock { $0 }
        for item in news { listeners[item.destination]?(item.news) }
    }
}
