class A:
    @staticmethod
    def x(): return 1
