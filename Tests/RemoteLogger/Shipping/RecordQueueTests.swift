import TestSupport
import Testing

@testable import RemoteLogger

@Suite struct RecordQueueTests {
    /// Compares the queue with an array.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `is a queue in any order of events`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = RecordQueue<Int>()
        var model: [Int] = []
        for number in 0..<6_000 {
            switch Int.random(in: 0..<(number < 3_000 ? 8 : 20), using: &generator) {
            case 0..<6:
                queue.append(number)
                model.append(number)
            case 6:
                let meant = Int.random(in: 0...number, using: &generator)
                let index = model.firstIndex { $0 >= meant }
                #expect(queue.removeFirst { $0 >= meant } == index.map { model[$0] })
                if let index { model.remove(at: index) }
            default:
                #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first == model.first)
            let place = Int.random(in: 0...20, using: &generator)
            #expect(queue[place] == (place < model.count ? model[place] : nil))
        }
        #expect(queue.count { $0.isMultiple(of: 2) } == model.count { $0.isMultiple(of: 2) })
    }
}
