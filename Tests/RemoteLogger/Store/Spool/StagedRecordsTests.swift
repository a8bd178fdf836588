import Testing

@testable import RemoteLogger

@Suite struct StagedRecordsTests {
    @Test func `only what is being written can be lost of it`() {
        var staged = StagedRecords(through: 5)
        #expect(!staged.hasLosses && !staged.isLost(at: 3))
        staged.noteLoss(at: 6)
        #expect(!staged.hasLosses, "it comes after what is written")
        staged.noteLoss(at: 3)
        staged.noteLoss(at: 5)
        #expect(staged.hasLosses && (1...7).filter(staged.isLost) == [3, 5])
    }

    @Test func `a destination that begins while nothing is written has nothing to be judged anew`() {
        var idle = StagedRecords()
        idle.noteJudgement()
        idle.noteLoss(at: 1)
        #expect(!idle.isJudged && !idle.hasLosses)
        var staged = StagedRecords(through: 5)
        staged.noteJudgement()
        #expect(staged.isJudged)
    }
}
