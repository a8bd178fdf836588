import WebServiceClient

/// What a destination's shipper waits for, and somebody else has brought.
struct SpoolNews: Sendable {
    let destination: String
    let news: StoreNews
}

extension SpoolCore {
    /// Says what ends a destination's sleep.
    ///
    /// - Returns: whether so much isn't there yet.
    func sleep(until condition: WakeCondition, for destination: String) -> Bool {
        state.withLock { state in
            state.destinations.change(destination) { destination in
                destination.wake = condition
                return !destination.wake.take(destination.unread, destination.unreadBytes)
            } ?? true
        }
    }

    /// Tells a destination of its next loss.
    ///
    /// - Returns: whether there is none yet.
    func awaitLosses(for destination: String) -> Bool {
        state.withLock { state in
            state.destinations.change(destination) { destination in
                destination.isLossAwaited = destination.losses.isEmpty
                return destination.isLossAwaited
            } ?? true
        }
    }

    /// Tells those who wait for what reading or writing has brought about.
    func tellNews() {
        let news = state.withLock { state in
            var news: [SpoolNews] = []
            state.destinations.changeEach { name, destination in
                destination.takeNews { news.append(SpoolNews(destination: name, news: $0)) }
            }
            return news
        }
        if !news.isEmpty { tell(news) }
    }

    func tell(_ news: [SpoolNews]) {
        let listeners = self.news.withLock { $0 }
        for item in news { listeners[item.destination]?(item.news) }
    }
}
